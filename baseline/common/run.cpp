#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <reprise.h>

#include "options.hpp"
#include "record.hpp"

namespace reprise {
namespace {

constexpr int warmup = 3; // iterations that are run and not counted
constexpr int timed = 3;  // iterations that events time, besides

double median(std::vector<double> v) {
	std::sort(v.begin(), v.end());
	return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

// Runner measures versions of the same workloads.
class Runner {
public:
	Runner(const Device &device, const Options &options, const Params &params, const Workloads &workloads, Record base)
		: device_(device), options_(options), params_(params), workloads_(workloads), base_(std::move(base)) {}

	Record measure(const std::string &name) {
		auto version = make_version(name, device_, workloads_);
		Record r = base_;
		r.version = name;
		iterate(*version, r); // checked before any is timed
		std::vector<double> times;
		for (int i = 0; i < options_.iterations; i++)
			times.push_back(iterate(*version, r));
		const auto first = std::min(warmup, options_.iterations - 1);
		times.erase(times.begin(), times.begin() + first);
		r.replay_us = median(times);
		r.min_us = *std::min_element(times.begin(), times.end());
		r.max_us = *std::max_element(times.begin(), times.end());
		r.plan = version->plan();
		r.event_us = between_events(*version);
		if (options_.burst > 0)
			burst(*version, r);
		return r;
	}

private:
	void reset() {
		for (const auto &w : workloads_) {
			if (params_.sampled)
				w->reset_sampled();
			else
				w->reset();
		}
	}

	// iterate takes the time of an iteration, in microseconds, and checks its result.
	double iterate(Version &version, Record &r) {
		reset();
		const auto calls = repriseCalls();
		const auto start = repriseNow();
		version.iterate();
		const auto took = repriseNow() - start;
		r.driver_calls = repriseCalls() - calls;
		if (!params_.sampled)
			check(r);
		return static_cast<double>(took) / 1000;
	}

	// check compares the result of the last of some replays since reset, in each workload.
	void check(Record &r, int replays = 1) {
		for (const auto &w : workloads_)
			note(w->check(replays), r);
	}

	static void note(const Checked &c, Record &r) {
		r.max_error = std::isnan(c.max_error) ? c.max_error : std::max(r.max_error, c.max_error);
		if (!c.error.empty() && r.ok) {
			r.ok = false;
			r.error = c.error;
		}
	}

	// burst takes the time per replay of replays that are submitted back to back, and checks the result of the last one.
	void burst(Version &version, Record &r) {
		reset();
		const auto start = repriseNow();
		version.burst(options_.burst);
		r.burst_us = static_cast<double>(repriseNow() - start) / 1000 / options_.burst;
		r.burst = options_.burst;
		if (!params_.sampled)
			check(r, options_.burst / r.copies);
	}

	double between_events(Version &version) {
		CUevent start = nullptr, end = nullptr;
		CU(cuEventCreate(&start, CU_EVENT_DEFAULT));
		CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
		std::vector<double> times;
		for (int i = 0; i < std::min(timed, options_.iterations); i++) {
			reset();
			version.iterate_between(start, end);
			float ms = 0;
			CU(cuEventElapsedTime(&ms, start, end));
			times.push_back(1000 * static_cast<double>(ms));
		}
		cuEventDestroy(start);
		cuEventDestroy(end);
		return median(times);
	}

	const Device &device_;
	const Options &options_;
	const Params &params_;
	const Workloads &workloads_;
	Record base_;
};

Record base_record(const Description &d, const Options &o, const Params &p, const Device &device) {
	Record r;
	r.workload = d.name;
	r.size = p.size;
	r.memory = mode_name(p.mode);
	r.threads = p.threads;
	r.blocks = p.blocks;
	r.device = device.name();
	r.device_name = device.full_name();
	r.simulated = device.simulated();
	r.iterations = o.iterations;
	r.sample = o.sample;
	r.compiler = "g++ " __VERSION__;
	r.commit = o.commit;
	return r;
}

// ready makes a workload whose data are on the device.
std::unique_ptr<Workload> ready(const Description &d, const Device &device, const Params &p) {
	auto workload = d.make(device, p);
	if (p.sampled)
		workload->steer();
	else
		workload->load();
	return workload;
}

// measure prints a record for each version, and returns whether all were right.
bool measure(const Description &d, const Options &o) {
	Params p;
	p.size = o.size > 0 ? o.size : d.size;
	if (const auto problem = d.fits(p.size); !problem.empty())
		throw UsageError(problem);
	const Device device(o.device);
	if (o.sample > 0 && !device.simulated())
		throw UsageError("--sample " + std::to_string(o.sample) + ": only the simulated driver runs a part of a launch");
	p.threads = o.threads > 0 ? o.threads : d.threads;
	p.blocks = o.blocks > 0 ? o.blocks : d.blocks(device.multiprocessors());
	p.mode = o.mode;
	p.sampled = o.sample > 0;
	p.seed = o.seed;

	auto base = base_record(d, o, p, device);
	Workloads workloads;
	workloads.push_back(ready(d, device, p));
	base.ptx_hash = Kernel::loaded();
	base.checked = !p.sampled;
	if (base.checked)
		base.input_hash = workloads[0]->hash();
	bool ok = true;
	for (const auto &name : o.versions) {
		if (copies_of(name) > 1 && workloads[0]->continues()) {
			std::cerr << d.name << " has no " << name << ": each replay starts from the result of the one before\n";
			continue;
		}
		workloads.resize(std::min(workloads.size(), static_cast<std::size_t>(copies_of(name))));
		while (workloads.size() < static_cast<std::size_t>(copies_of(name)))
			workloads.push_back(ready(d, device, p));
		base.copies = copies_of(name);
		base.added_bytes = (base.copies - 1) * static_cast<long>(workloads[0]->bytes());
		const auto record = Runner(device, o, p, workloads, base).measure(name);
		if (!(std::cout << record.json() << std::endl)) // at once: somebody may watch
			throw std::runtime_error("cannot write to standard output");
		ok = ok && record.ok;
	}
	return ok;
}

} // namespace

int run(const Description &workload, int argc, char **argv) {
	try {
		const auto options = parse_options(argc, argv);
		if (options.help) {
			std::cout << help(workload);
			return 0;
		}
		// 0 as well: what is checked may not be sampled, whatever the environment says
		setenv("REPRISE_SIM_SAMPLE", std::to_string(options.sample).c_str(), 1);
		return measure(workload, options) ? 0 : 1;
	} catch (const UsageError &e) {
		std::cerr << workload.name << ": " << e.what() << "\n";
		return 2;
	} catch (const std::exception &e) {
		std::cerr << workload.name << ": " << e.what() << "\n";
		return 1;
	}
}

} // namespace reprise
