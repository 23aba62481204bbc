// Conjugate gradients as a CUDA engineer would have a GPU repeat them: an iteration as a graph, launched so
// many times between two looks of the host, and a while node, which needs no look.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <reprise.h>

#include "system.hpp"

REPRISE_PTX(go_on);

namespace solver {
namespace {

using Nodes = std::vector<CUgraphNode>;

// iterate adds an iteration to a graph and returns its ends.
Nodes iterate(const Device &device, CUgraph graph, const Cg &cg, const Nodes &after) {
	const auto add = [&](const Op &op, const Nodes &before) { return add_node(device, graph, before, op); };
	const auto direct = add(cg.direct(), after);
	const auto apply = add(cg.apply(), {direct});
	const auto alpha = add(cg.alpha(), {apply});
	const auto reduce = add(cg.reduce(), {alpha});
	const auto step = add(cg.step(), {alpha});
	return {add(cg.beta(), {reduce}), step};
}

// Solver repeats iterations until the state says that it was the last.
class Solver {
public:
	explicit Solver(Cg &cg) : cg_(cg) {
		CU(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
		CU(cuGraphCreate(&graph_, 0));
	}
	virtual ~Solver() {
		cuGraphExecDestroy(exec_);
		cuGraphDestroy(graph_);
		cuStreamDestroy(stream_);
	}
	Solver(const Solver &) = delete;
	Solver &operator=(const Solver &) = delete;

	virtual void solve() = 0;
	// sample runs all iterations there may be, whatever they come to.
	virtual void sample() = 0;

protected:
	void instantiate() {
		CU(cuGraphInstantiate(&exec_, graph_, 0));
		CU(cuGraphUpload(exec_, stream_));
		CU(cuStreamSynchronize(stream_));
	}

	Cg &cg_;
	CUstream stream_ = nullptr;
	CUgraph graph_ = nullptr;
	CUgraphExec exec_ = nullptr;
};

// Launched launches an iteration at a time.
class Launched : public Solver {
public:
	Launched(const Device &device, Cg &cg, int every, int most) : Solver(cg), device_(device), every_(every), most_(most) {
		iterate(device, graph_, cg, {});
		instantiate();
	}

	void solve() override {
		for (int done = 0; done < most_;) {
			done = period(done);
			if (cg_.state().code != running)
				return;
		}
	}

	void sample() override {
		for (int done = 0; done < most_;)
			done = period(done);
	}

private:
	// period launches iterations up to the next look, and returns how many there were so far.
	int period(int done) {
		const int next = std::min(done + every_, most_);
		for (; done < next; done++)
			CU(cuGraphLaunch(exec_, stream_));
		enqueue(device_, cg_.look(), stream_);
		CU(cuStreamSynchronize(stream_));
		return done;
	}

	const Device &device_;
	const int every_, most_;
};

// While has the device go round, in rounds of so many iterations. Only what computes the state is waited for by
// what decides: the last step goes on beside it.
class While : public Solver {
public:
	While(const Device &device, Cg &cg, int every) : Solver(cg), go_on_(ptx_go_on, "go_on") {
		CUgraphConditionalHandle condition = 0;
		CU(cuGraphConditionalHandleCreate(&condition, graph_, device.context(), 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
		CUgraphNodeParams loop{};
		loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
		loop.conditional.handle = condition;
		loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
		loop.conditional.size = 1;
		loop.conditional.ctx = device.context();
		CUgraphNode node = nullptr;
		CU(cuGraphAddNode(&node, graph_, nullptr, 0, &loop));
		const auto body = loop.conditional.phGraph_out[0];
		Nodes ends;
		for (int i = 0; i < every; i++)
			ends = iterate(device, body, cg, ends);
		Block state;
		state.dev = cg.state_on_device();
		add_node(device, body, {ends[0]}, launch(go_on_, reprise::linear(1, 1), static_cast<std::uint64_t>(condition), state));
		add_node(device, graph_, {node}, cg.look());
		instantiate();
	}

	void solve() override {
		CU(cuGraphLaunch(exec_, stream_));
		CU(cuStreamSynchronize(stream_));
	}

	void sample() override { throw std::logic_error("nothing computes the condition"); }

private:
	const Kernel go_on_;
};

struct UsageError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct Options {
	int side = 64, every = 16, most = 10000, device = 0;
	long sample = 0;
	double tolerance = 1e-8;
	std::string version = "all";
};

const char *const help = "Solves the Poisson equation on a square by conjugate gradients, as written by hand, and prints a JSON record\n"
						 "per version: graph (an iteration is a graph) and while (the device goes round).\n\n"
						 "  --size N             points of a side (default 64)\n"
						 "  --check-every N      iterations between two looks, and of a round (default 16)\n"
						 "  --max-iterations N   after which to give up (default 10000)\n"
						 "  --tolerance X        relative residual to stop at (default 1e-8)\n"
						 "  --version NAME       graph, while or all (default all)\n"
						 "  --sample N           run N blocks of each launch on the simulated driver: all iterations there may be are\n"
						 "                       timed, nothing is solved, and the only version is graph\n"
						 "  --device N           ordinal of the device (default 0)\n";

template <class T> void parse(T &to, const std::string &flag, const std::string &text, T least, T most) {
	const auto *end = text.data() + text.size();
	T value{};
	const auto [stop, error] = std::from_chars(text.data(), end, value);
	if (error != std::errc() || stop != end || !(value >= least && value <= most)) {
		std::ostringstream what;
		what << flag << " " << text << ": use a number from " << least << " to " << most;
		throw UsageError(what.str());
	}
	to = value;
}

Options parse_options(int argc, char **argv) {
	Options o;
	for (int i = 1; i < argc; i += 2) {
		const std::string flag = argv[i];
		if (i + 1 == argc)
			throw UsageError(flag + ": a value is missing, or the flag is unknown: --help lists them");
		const std::string value = argv[i + 1];
		if (flag == "--size")
			parse(o.side, flag, value, 1, 1 << 14);
		else if (flag == "--check-every")
			parse(o.every, flag, value, 1, 1 << 16);
		else if (flag == "--max-iterations")
			parse(o.most, flag, value, 1, 1 << 26);
		else if (flag == "--tolerance")
			parse(o.tolerance, flag, value, 1e-300, 0.5);
		else if (flag == "--device")
			parse(o.device, flag, value, 0, 1 << 16);
		else if (flag == "--sample")
			parse(o.sample, flag, value, 0L, 1L << 30);
		else if (flag == "--version" && (value == "all" || value == "graph" || value == "while"))
			o.version = value;
		else if (flag == "--version")
			throw UsageError("--version " + value + ": use graph, while or all");
		else
			throw UsageError("unknown flag " + flag + ": --help lists them");
	}
	if (o.sample > 0 && o.version != "graph")
		throw UsageError("--sample " + std::to_string(o.sample) + ": only with --version graph, for nothing computes the condition of the other");
	return o;
}

// run solves once to warm up and once by the clock.
void run(const char *version, Cg &cg, Solver &solver, const Device &device, const Options &o) {
	long long took = 0;
	for (int i = 0; i < 2; i++) {
		cg.reset();
		const auto start = repriseNow();
		o.sample > 0 ? solver.sample() : solver.solve();
		took = static_cast<long long>(repriseNow() - start);
	}
	std::ostringstream line;
	line.precision(17);
	line << "{\"method\":\"cg\",\"version\":\"" << version << "\",\"device\":\"" << device.name() << "\",\"simulated\":" << (device.simulated() ? "true" : "false")
		 << ",\"size\":" << o.side << ",\"check_every\":" << o.every;
	if (o.sample > 0) {
		line << ",\"sample\":" << o.sample << ",\"iterations\":" << o.most;
	} else {
		const auto state = cg.state();
		if (state.code != converged)
			throw std::runtime_error(std::string(version) + " has come to code " + std::to_string(state.code) + " of scalar.cu after " +
									 std::to_string(state.iterations) + " iterations, and to no solution");
		line << ",\"iterations\":" << state.iterations << ",\"residual\":" << cg.residual(state.iterations) << ",\"true_residual\":" << cg.true_residual();
	}
	line << ",\"time_ns\":" << took << "}";
	if (!(std::cout << line.str() << std::endl)) // at once: somebody may watch
		throw std::runtime_error("cannot write to standard output");
}

void run(const Options &o) {
	// 0 as well: what is solved may not be sampled, whatever the environment says
	setenv("REPRISE_SIM_SAMPLE", std::to_string(o.sample).c_str(), 1);
	const Device device(o.device);
	if (o.sample > 0 && !device.simulated())
		throw UsageError("--sample " + std::to_string(o.sample) + ": only the simulated driver runs a part of a launch");
	Cg cg(device, poisson2d(o.side), o.tolerance, o.most);
	if (o.version != "while") {
		Launched launched(device, cg, o.every, o.most);
		run("graph", cg, launched, device, o);
	}
	if (o.version != "graph") {
		While loop(device, cg, o.every);
		run("while", cg, loop, device, o);
	}
}

} // namespace
} // namespace solver

int main(int argc, char **argv) {
	try {
		if (argc == 2 && std::string(argv[1]) == "--help") {
			std::cout << solver::help;
			return 0;
		}
		solver::run(solver::parse_options(argc, argv));
		return 0;
	} catch (const solver::UsageError &e) {
		std::cerr << "cg: " << e.what() << "\n";
		return 2;
	} catch (const std::exception &e) {
		std::cerr << "cg: " << e.what() << "\n";
		return 1;
	}
}
