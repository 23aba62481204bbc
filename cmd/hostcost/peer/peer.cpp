// Submits a schedule as a program written by hand would: from arrays, over streams and events or as one graph.
//
// It reads from standard input
//
//	schedule OPS LANES
//	LANE WAITS OP...        for each operation, in the order of submission: whom it waits for, counted in that order
//
// and then lines `streams N` and `graph N`: so many replays, to each of which it answers in a line the nanoseconds
// they took and the calls of the driver that it made, which `count 0` and `count 1` have it count or not. At the end of
// input it frees what it made.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <cuda.h>
#include <reprise.h>

#define CU(call)                                                             \
	do {                                                                       \
		const CUresult result = (call);                                          \
		if (result != CUDA_SUCCESS) {                                            \
			std::fprintf(stderr, "peer: %s answers %d\n", #call, static_cast<int>(result)); \
			std::exit(1);                                                          \
		}                                                                        \
	} while (0)

namespace {

// The kernel and its arguments: three inputs, an output and a count.
struct Arguments {
	CUdeviceptr x, y, z, out;
	int n;
	void *list[5] = {&x, &y, &z, &out, &n};
};

struct Op {
	CUfunction kernel;
	unsigned grid[3], block[3], shared;
	CUstream stream;
	void **arguments;
	std::size_t waits, waits_end; // of all waits
	CUevent done;                 // when another stream waits for it
};

// Place is what an operation is to its schedule, once it is built no more.
struct Place {
	std::size_t lane;
	std::vector<std::size_t> after;
};

class Schedule {
public:
	explicit Schedule(std::istream &in) {
		std::string word;
		std::size_t count = 0, lanes = 0;
		if (!(in >> word >> count >> lanes) || word != "schedule")
			fail("want `schedule OPS LANES`");
		CU(cuModuleLoadData(&module_, ""));
		CU(cuModuleGetFunction(&kernel_, module_, "combine"));
		for (std::size_t i = 0; i < lanes; i++)
			CU(cuStreamCreate(&streams_.emplace_back(), CU_STREAM_NON_BLOCKING));
		ops_.reserve(count);
		arguments_.resize(count);
		for (std::size_t i = 0; i < count; i++)
			add(in);
		tie();
		build_graph();
		places_.clear();
	}

	~Schedule() {
		CU(cuGraphExecDestroy(exec_));
		CU(cuGraphDestroy(graph_));
		for (const auto e : events_)
			CU(cuEventDestroy(e));
		for (const auto s : streams_)
			CU(cuStreamDestroy(s));
		CU(cuModuleUnload(module_));
	}

	// Replays follow each other at once, so each begins and ends in the first stream.
	void over_streams(std::size_t times) const {
		for (std::size_t i = 0; i < times; i++) {
			if (!free_.empty())
				CU(cuEventRecord(begin_, streams_[0]));
			for (const auto s : free_)
				CU(cuStreamWaitEvent(s, begin_, 0));
			for (const auto &op : ops_) {
				for (auto w = op.waits; w < op.waits_end; w++)
					CU(cuStreamWaitEvent(op.stream, waits_[w], 0));
				CU(cuLaunchKernel(op.kernel, op.grid[0], op.grid[1], op.grid[2], op.block[0], op.block[1], op.block[2], op.shared,
					op.stream, op.arguments, nullptr));
				if (op.done != nullptr)
					CU(cuEventRecord(op.done, op.stream));
			}
			for (const auto &end : ends_) {
				CU(cuEventRecord(end.event, end.stream));
				CU(cuStreamWaitEvent(streams_[0], end.event, 0));
			}
		}
		CU(cuStreamSynchronize(streams_[0]));
	}

	void as_graph(std::size_t times) const {
		for (std::size_t i = 0; i < times; i++)
			CU(cuGraphLaunch(exec_, streams_[0]));
		CU(cuStreamSynchronize(streams_[0]));
	}

private:
	struct End {
		CUstream stream;
		CUevent event;
	};

	[[noreturn]] static void fail(const char *what) {
		std::fprintf(stderr, "peer: %s\n", what);
		std::exit(1);
	}

	CUevent event() {
		CU(cuEventCreate(&events_.emplace_back(), CU_EVENT_DISABLE_TIMING));
		return events_.back();
	}

	void add(std::istream &in) {
		Place place{};
		std::size_t waits = 0;
		if (!(in >> place.lane >> waits) || place.lane >= streams_.size())
			fail("want `LANE WAITS OP...`");
		const auto first = waits_.size();
		for (std::size_t i = 0; i < waits; i++) {
			std::size_t u = 0;
			if (!(in >> u) || u >= ops_.size())
				fail("an operation waits for one that does not come before it");
			if (ops_[u].done == nullptr)
				ops_[u].done = event();
			waits_.push_back(ops_[u].done);
			place.after.push_back(u);
		}
		ops_.push_back({kernel_, {4, 1, 1}, {64, 1, 1}, 0, streams_[place.lane], arguments_[ops_.size()].list, first, waits_.size(), nullptr});
		places_.push_back(std::move(place));
	}

	// tie finds the streams that must wait for the first at the beginning, for nothing else holds them back, and
	// those that the first must wait for at the end, for nothing else does.
	void tie() {
		constexpr auto none = static_cast<std::size_t>(-1);
		std::vector<std::size_t> last(streams_.size(), none);
		for (std::size_t i = 0; i < ops_.size(); i++) {
			const auto lane = places_[i].lane;
			if (last[lane] == none && lane != 0 && places_[i].after.empty())
				free_.push_back(streams_[lane]);
			last[lane] = i;
		}
		for (std::size_t lane = 1; lane < last.size(); lane++)
			if (last[lane] != none && ops_[last[lane]].done == nullptr)
				ends_.push_back({streams_[lane], event()});
		if (!free_.empty())
			begin_ = event();
	}

	void build_graph() {
		CU(cuGraphCreate(&graph_, 0));
		std::vector<CUgraphNode> nodes, tail(streams_.size());
		for (std::size_t i = 0; i < ops_.size(); i++) {
			const auto &place = places_[i];
			std::vector<CUgraphNode> after;
			if (tail[place.lane] != nullptr)
				after.push_back(tail[place.lane]);
			for (const auto u : place.after)
				after.push_back(nodes[u]);
			CUDA_KERNEL_NODE_PARAMS p{};
			p.func = ops_[i].kernel;
			p.gridDimX = 4, p.blockDimX = 64;
			p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
			p.kernelParams = ops_[i].arguments;
			CU(cuGraphAddKernelNode(&nodes.emplace_back(), graph_, after.data(), after.size(), &p));
			tail[place.lane] = nodes.back();
		}
		CU(cuGraphInstantiateWithFlags(&exec_, graph_, 0));
	}

	CUmodule module_ = nullptr;
	CUfunction kernel_ = nullptr;
	std::vector<CUstream> streams_;
	std::vector<CUevent> events_;
	std::vector<Arguments> arguments_;
	std::vector<Op> ops_;
	std::vector<CUevent> waits_;
	std::vector<Place> places_;
	CUevent begin_ = nullptr;
	std::vector<CUstream> free_;
	std::vector<End> ends_;
	CUgraph graph_ = nullptr;
	CUgraphExec exec_ = nullptr;
};

} // namespace

int main() {
	CUdevice device = 0;
	CUcontext context = nullptr;
	CU(cuInit(0));
	CU(cuDeviceGet(&device, 0));
	CU(cuDevicePrimaryCtxRetain(&context, device));
	CU(cuCtxSetCurrent(context));
	{
		const Schedule schedule(std::cin);
		std::string backend;
		std::size_t times = 0;
		while (std::cin >> backend >> times) {
			if (backend == "count") {
				repriseCount(times != 0);
				continue;
			}
			const auto calls = repriseCalls();
			const auto start = std::chrono::steady_clock::now();
			if (backend == "graph")
				schedule.as_graph(times);
			else
				schedule.over_streams(times);
			const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
			std::cout << took.count() << ' ' << repriseCalls() - calls << std::endl;
		}
	}
	CU(cuDevicePrimaryCtxRelease(device));
}
