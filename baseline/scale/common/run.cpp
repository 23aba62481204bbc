#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <tuple>

#include <reprise.h>

#include "flags.hpp"
#include "json.hpp"
#include "part.hpp"

namespace reprise::scale {
namespace {

// Times of an iteration, in microseconds.
struct Times {
	double all = 0;	 // from the first launch to the end of the last step
	double host = 0; // of the calls that launch
};

// Outcome is what an iteration has left.
struct Outcome {
	int steps = 0;
	double norm = 0; // of the last step with one
	std::vector<float> grids[2]; // the last one computed, and the one before; on rank 0
};

// Run is the parts of this rank and what joins them.
class Run {
public:
	Run(const Ranks &ranks, const Stencil &stencil, const Options &o) : ranks_(ranks), stencil_(stencil), options_(o), port_(o.network) {
		const int devices = ranks.size() * o.devices;
		if (devices > stencil.computed.count())
			throw UsageError("--size: " + std::to_string(stencil.computed.count()) + " rows are computed, and each of " +
							 std::to_string(devices) + " devices needs one: use more rows or fewer devices");
		for (int i = 0; i < o.devices; i++) {
			devices_.push_back(std::make_unique<Device>(ordinal(i)));
			parts_.push_back(std::make_unique<Part>(*devices_.back(), stencil, slab_of(stencil.computed, stencil.rows, ranks.rank() * o.devices + i, devices)));
		}
		for (std::size_t i = 1; i < parts_.size(); i++)
			Part::connect(*parts_[i - 1], *parts_[i], o.peers);
		if (ranks.rank() > 0)
			parts_.front()->connect(above, ranks.rank() - 1);
		if (ranks.rank() + 1 < ranks.size())
			parts_.back()->connect(below, ranks.rank() + 1);
		const auto start = repriseNow();
		for (const auto &p : parts_)
			p->build(o.norm_every > 0);
		build_us_ = static_cast<double>(repriseNow() - start) / 1000;
		for (int parity = 0; parity < 2; parity++) {
			std::vector<Message> list;
			for (const auto &p : parts_)
				for (const auto &m : p->messages(parity))
					list.push_back(m);
			messages_[parity] = std::make_unique<Exchange>(list, device().simulated() ? &port_ : nullptr);
		}
	}

	~Run() {
		for (const auto &p : parts_)
			p->drop();
	}
	Run(const Run &) = delete;
	Run &operator=(const Run &) = delete;

	const Device &device() const { return *devices_.front(); }
	double build_us() const { return build_us_; }

	// passing counts the borders of this rank that rows pass in some way, each way once.
	long passing(Way way) const {
		long n = 0;
		for (const auto &p : parts_)
			for (const auto side : sides)
				n += p->border(side).way == way;
		return n;
	}

	void start(const std::vector<float> &from, const std::vector<float> &to) {
		for (const auto &p : parts_)
			p->start(from, to);
	}

	// iterate runs the steps. All ranks return when all have finished.
	Times iterate(Outcome &outcome) {
		host_ns_ = 0;
		ranks_.barrier(options_.network);
		const auto start = repriseNow();
		int step = 0;
		while (step < options_.steps) {
			const bool norm = options_.norm_every > 0 && (step + 1) % options_.norm_every == 0;
			advance(step % 2, norm);
			step++;
			if (norm && (outcome.norm = total()) <= options_.tolerance)
				break;
		}
		synchronize();
		ranks_.barrier(options_.network);
		outcome.steps = step;
		return {static_cast<double>(repriseNow() - start) / 1000, static_cast<double>(host_ns_) / 1000};
	}

	// read collects both grids on rank 0. Rows that are not computed are those of the start.
	void read(Outcome &outcome, const std::vector<float> &from, const std::vector<float> &to) const {
		const int last = outcome.steps % 2;
		outcome.grids[0] = collected(last, last == 0 ? from : to);
		outcome.grids[1] = collected(1 - last, last == 0 ? to : from);
	}

private:
	// ordinal is that of device i. Ranks of one node share its devices, and simulated ones are each rank's own.
	int ordinal(int i) const {
		int count = 0;
		CU(cuInit(0));
		CU(cuDeviceGetCount(&count));
		repriseError e;
		const bool simulated = repriseLastError(&e) == CUDA_SUCCESS;
		return simulated ? i : ranks_.local() * options_.devices + i;
	}

	// advance launches a step on all devices, and exchanges its rows with other ranks while the rows inside are computed.
	void advance(int parity, bool norm) {
		auto &messages = *messages_[parity];
		messages.receive();
		const auto start = repriseNow();
		for (const auto &p : parts_)
			p->launch(parity, norm);
		host_ns_ += repriseNow() - start;
		if (messages.empty())
			return;
		for (const auto &p : parts_)
			for (const auto side : sides)
				if (p->border(side).way == Way::message)
					p->wait_for(side, parity);
		messages.send();
		messages.wait();
	}

	// total is the norm over all devices.
	double total() {
		synchronize();
		double sum = 0;
		for (const auto &p : parts_)
			sum += p->norm();
		return ranks_.sum(sum, options_.network);
	}

	void synchronize() {
		for (const auto &p : parts_)
			p->synchronize();
	}

	std::vector<float> collected(int which, const std::vector<float> &start) const {
		std::vector<float> mine;
		for (const auto &p : parts_) {
			const auto rows = p->read(which);
			mine.insert(mine.end(), rows.begin(), rows.end());
		}
		const auto computed = ranks_.gather(mine);
		auto grid = start;
		std::copy(computed.begin(), computed.end(), grid.begin() + static_cast<std::ptrdiff_t>(stencil_.computed.first) * stencil_.cols);
		return grid;
	}

	const Ranks &ranks_;
	const Stencil &stencil_;
	const Options &options_;
	std::vector<std::unique_ptr<Device>> devices_;
	std::vector<std::unique_ptr<Part>> parts_;
	Port port_;
	std::unique_ptr<Exchange> messages_[2]; // by parity
	double build_us_ = 0;
	std::uint64_t host_ns_ = 0;
};

// Reference is the result on the CPU.
class Reference {
public:
	Reference(const Stencil &s, const std::vector<float> &from, const std::vector<float> &to) : stencil_(s), start_{wide(from), wide(to)} {}

	// of returns both grids after some steps, the last one computed first, and the norm of the last step with one.
	const std::vector<std::vector<double>> &of(int steps, int norm_every, double &norm) {
		if (steps != steps_) {
			result_ = start_;
			for (int i = 1; i <= steps; i++) {
				const auto change = stencil_.reference(result_[1], result_[0]);
				std::swap(result_[0], result_[1]);
				if (norm_every > 0 && i % norm_every == 0)
					norm_ = change;
			}
			steps_ = steps;
		}
		norm = norm_;
		return result_;
	}

private:
	static std::vector<double> wide(const std::vector<float> &v) { return {v.begin(), v.end()}; }

	const Stencil &stencil_;
	const std::vector<std::vector<double>> start_;
	std::vector<std::vector<double>> result_;
	int steps_ = -1;
	double norm_ = 0;
};

// greater is the greater of two numbers, or NaN if one of them is.
double greater(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// Check is the comparison of results with the CPU. Errors are relative to the greatest magnitude of a result.
struct Check {
	double max_error = 0;
	std::string error;

	template <class T> void of(const std::string &what, const T *got, const std::vector<double> &want, double tolerance) {
		double magnitude = 0, off = 0;
		for (std::size_t i = 0; i < want.size() && !std::isnan(off); i++) {
			magnitude = std::max(magnitude, std::abs(want[i]));
			off = greater(off, std::abs(static_cast<double>(got[i]) - want[i]));
		}
		const auto relative = off == 0 ? 0 : off / magnitude;
		max_error = greater(max_error, relative);
		if (!(relative <= tolerance) && error.empty())
			error = what + " is off by " + std::to_string(relative) + " of its greatest magnitude, more than " + std::to_string(tolerance);
	}
};

constexpr double norm_tolerance = 1e-4;

double median(std::vector<double> v) {
	std::sort(v.begin(), v.end());
	return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

std::string extents(const Stencil &s) { return std::to_string(s.rows) + "x" + std::to_string(s.cols); }

// Measured is what the iterations have shown.
struct Measured {
	std::vector<double> step_us, host_us; // per step, by iteration
	Outcome last;
	Check check;
};

Measured measure(const Ranks &ranks, Run &run, const Stencil &stencil, const Options &o) {
	std::vector<float> from, to;
	std::optional<Reference> reference;
	if (o.sample == 0) {
		std::tie(from, to) = stencil.start();
		reference.emplace(stencil, from, to);
	}
	Measured m;
	for (int i = 0; i < o.iterations; i++) {
		if (o.sample == 0)
			run.start(from, to);
		const auto times = run.iterate(m.last);
		m.step_us.push_back(ranks.max(times.all) / m.last.steps);
		m.host_us.push_back(ranks.max(times.host) / m.last.steps);
		if (o.sample > 0)
			continue;
		run.read(m.last, from, to);
		if (ranks.rank() > 0)
			continue;
		double norm = 0;
		const auto &want = reference->of(m.last.steps, o.norm_every, norm);
		m.check.of("the last grid", m.last.grids[0].data(), want[0], stencil.tolerance);
		m.check.of("the grid before", m.last.grids[1].data(), want[1], stencil.tolerance);
		if (m.last.steps >= o.norm_every && o.norm_every > 0)
			m.check.of("the norm", &m.last.norm, {norm}, norm_tolerance);
	}
	if (o.iterations > 1) {
		m.step_us.erase(m.step_us.begin());
		m.host_us.erase(m.host_us.begin());
	}
	return m;
}

std::string record(const Ranks &ranks, const Run &run, const Stencil &stencil, const Options &o, const Measured &m, long messages, long copies) {
	const auto row = static_cast<long>(stencil.cols) * static_cast<long>(sizeof(float));
	Object r;
	r.text("workload", stencil.name);
	r.text("size", extents(stencil));
	r.number("ranks", long{ranks.size()});
	r.number("devices", long{ranks.size()} * o.devices);
	r.text("device", run.device().name());
	r.text("device_name", run.device().full_name());
	r.flag("simulated", run.device().simulated());
	r.text("language", "c++");
	r.text("backend", "graph");
	r.flag("peers", run.passing(Way::staged) == 0);
	r.number("steps", long{m.last.steps});
	r.number("norm_every", long{o.norm_every});
	r.number("iterations", long{o.iterations});
	if (o.sample > 0)
		r.number("sample", o.sample);
	r.time("us_per_step", median(m.step_us));
	r.time("min_us_per_step", *std::min_element(m.step_us.begin(), m.step_us.end()));
	r.time("max_us_per_step", *std::max_element(m.step_us.begin(), m.step_us.end()));
	r.time("host_us_per_step", median(m.host_us));
	r.time("build_us", run.build_us());
	r.number("messages", messages);
	r.number("bytes_sent", messages * row);
	r.number("copies", copies);
	r.flag("executed", o.sample == 0);
	if (o.norm_every > 0)
		r.number("norm", m.last.norm);
	r.number("max_error", m.check.max_error);
	r.flag("ok", m.check.error.empty());
	if (!m.check.error.empty())
		r.text("error", m.check.error);
	if (o.sample == 0)
		r.text("result_hash", hexadecimal(hash(hash(0, m.last.grids[0]), m.last.grids[1])));
	r.text("compiler", "g++ " __VERSION__);
	r.text("commit", o.commit);
	return r.json();
}

// measured runs a program, prints its record on rank 0, and returns whether the result was right.
bool measured(const Ranks &ranks, const Stencil &stencil, const Options &o) {
	Run run(ranks, stencil, o);
	if (o.sample > 0 && !run.device().simulated())
		throw UsageError("--sample " + std::to_string(o.sample) + ": only the simulated driver runs a part of a launch");
	const auto m = measure(ranks, run, stencil, o);
	const auto messages = static_cast<long>(ranks.sum(static_cast<double>(run.passing(Way::message)), o.network));
	const auto copies = static_cast<long>(ranks.sum(static_cast<double>(run.passing(Way::direct) + run.passing(Way::staged)), o.network));
	if (ranks.rank() == 0 && !(std::cout << record(ranks, run, stencil, o, m, messages, copies) << std::endl))
		throw std::runtime_error("cannot write to standard output");
	return ranks.broadcast(m.check.error.empty()) != 0;
}

} // namespace

int run(const char *name, bool norm, const std::function<Stencil(int rows, int cols)> &make, int argc, char **argv) {
	const Ranks ranks(&argc, &argv);
	const auto failed = [&](int status, const std::string &why) {
		std::cerr << name << ": " << why << "\n";
		ranks.abort(status);
		return status;
	};
	try {
		const auto options = parse_options(argc, argv, norm);
		if (options.help) {
			if (ranks.rank() == 0)
				std::cout << help(name, norm);
			return 0;
		}
		// 0 as well: results that are checked are of whole launches, whatever the environment says
		setenv("REPRISE_SIM_SAMPLE", std::to_string(options.sample).c_str(), 1);
		return measured(ranks, make(options.rows, options.cols), options) ? 0 : 1;
	} catch (const UsageError &e) {
		return failed(2, e.what());
	} catch (const std::exception &e) {
		return failed(1, e.what());
	}
}

} // namespace reprise::scale
