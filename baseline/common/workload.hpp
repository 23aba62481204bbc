// What a workload gives: arrays, shapes, a check, and its schedules by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph.hpp"
#include "op.hpp"
#include "streams.hpp"

namespace reprise {

// Params say how to run a workload.
struct Params {
	long size = 0;
	int threads = 0; // per one-dimensional block
	int blocks = 0;	 // of a one-dimensional grid
	Mode mode = Mode::pinned;
	bool sampled = false; // the device runs some blocks of each launch: no data, no check
	std::uint64_t seed = 1;

	std::size_t n() const { return static_cast<std::size_t>(size); }
};

// Checked is what the comparison with the CPU reference found.
struct Checked {
	double max_error = 0;
	std::string error; // empty: right
};

// Workload is one workload of some size, with its data on the device.
class Workload {
public:
	Workload(const Device &device, const Params &p) : params_(p), memory_(device, p.mode) {}
	virtual ~Workload() = default;

	// serial is the program: every operation, in order.
	virtual std::vector<const Op *> serial() const = 0;
	// async puts it on streams.
	virtual void async(Streams &s) const = 0;
	// graph makes it a graph.
	virtual void graph(Graph &g) const = 0;

	// load writes what stays on the device, before the first reset.
	virtual void load() {}
	// reset rewrites what an iteration consumes, and poisons what it must write.
	virtual void reset() = 0;
	// check compares the result of the last of some replays since reset with the CPU reference.
	virtual Checked check(int replays) = 0;
	// continues says that a replay starts from the result of the one before. Otherwise all replays of the same inputs
	// have the same result, and none has to wait for another.
	virtual bool continues() const { return false; }
	// hash is that of the inputs.
	virtual std::uint64_t hash() const = 0;

	// On a sampled device none of these is called. steer stands for load there: it writes what steers addresses
	// or loops, and nothing else.
	virtual void steer() {}
	// reset_sampled stands for reset: what is to travel is where it travels from.
	void reset_sampled() { memory_.send_home(); }

	// bytes is the size of the memory on the device.
	std::size_t bytes() const { return memory_.bytes(); }

protected:
	const Params params_;
	Memory memory_;
};

// Workloads are equal workloads, each with memory of its own.
using Workloads = std::vector<std::unique_ptr<Workload>>;

// Description is a workload before it is made.
struct Description {
	const char *name;
	long size;				   // the default
	int threads;			   // likewise
	int (*blocks)(int sms);	   // likewise
	std::string (*fits)(long); // why a size cannot be run; empty: it can
	std::unique_ptr<Workload> (*make)(const Device &device, const Params &p);
};

// make is what a Description makes a workload with.
template <class T> std::unique_ptr<Workload> make(const Device &device, const Params &p) { return std::make_unique<T>(device, p); }

// The rule for grids of workloads that fill the device.
inline int per_sm(int sms) { return 8 * sms; }

// run is the whole of a baseline program.
int run(const Description &workload, int argc, char **argv);

} // namespace reprise
