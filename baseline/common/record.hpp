// The record of a run, as Go's package bench writes it too.
#pragma once

#include <cstdint>
#include <string>

#include "version.hpp"

namespace reprise {

struct Record {
	std::string workload, memory, device, device_name, version, compiler, commit;
	long size = 0, sample = 0;
	int threads = 0, blocks = 0, iterations = 0;
	bool simulated = false;
	Plan plan;
	std::uint64_t driver_calls = 0;
	double replay_us = 0, min_us = 0, max_us = 0, event_us = 0;
	int burst = 0;		 // replays that were submitted back to back
	double burst_us = 0; // their time, divided by their number
	int copies = 1;		 // replays in an iteration
	long added_bytes = 0; // of memory, for copies but the first
	bool checked = false, ok = true;
	double max_error = 0;
	std::string error;
	std::uint64_t input_hash = 0; // counts when checked

	std::uint64_t ptx_hash = 0;

	// json is the record as an object on one line.
	std::string json() const;
};

} // namespace reprise
