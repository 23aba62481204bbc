// The command line, which is that of every baseline program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "number.hpp"
#include "workload.hpp"

namespace reprise {

struct Options {
	long size = 0;	  // 0: the workload's own
	int threads = 0;  // likewise
	int blocks = 0;	  // likewise
	Mode mode = Mode::pinned;
	std::vector<std::string> versions;
	int iterations = 30;
	int burst = 0; // replays that are submitted back to back; 0: none are
	int device = 0;
	std::uint64_t seed = 1;
	long sample = 0;
	std::string commit = "unknown";
	bool help = false;
};

Options parse_options(int argc, char **argv);

std::string help(const Description &workload);

const char *mode_name(Mode mode);

} // namespace reprise
