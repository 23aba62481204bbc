#include "version.hpp"

#include <stdexcept>

namespace reprise {
namespace {

// Serial runs the program on one stream, and the host waits after each operation.
class Serial : public Version {
public:
	Serial(const Device &device, const Workload &workload) : device_(device), streams_(device) {
		for (const auto *op : workload.serial())
			if (!is_nothing(*op))
				ops_.push_back(op);
	}

	void iterate() override {
		const auto stream = streams_.stream(0);
		for (const auto *op : ops_) {
			enqueue(device_, *op, stream);
			CU(cuStreamSynchronize(stream));
		}
	}

	void iterate_between(CUevent start, CUevent end) override {
		CU(cuEventRecord(start, streams_.stream(0)));
		iterate();
		CU(cuEventRecord(end, streams_.stream(0)));
		CU(cuStreamSynchronize(streams_.stream(0)));
	}

	void burst(int n) override {
		for (int i = 0; i < n; i++)
			iterate();
	}

	Plan plan() const override {
		const auto n = static_cast<int>(ops_.size());
		return {n, n - 1, 1, 0};
	}

private:
	const Device &device_;
	Streams streams_;
	std::vector<const Op *> ops_;
};

// Async runs the workload's own schedule on streams.
class Async : public Version {
public:
	Async(const Device &device, const Workload &workload) : workload_(workload), streams_(device) {}

	void iterate() override {
		streams_.begin();
		workload_.async(streams_);
	}

	void iterate_between(CUevent start, CUevent end) override {
		const auto stream = streams_.stream(0);
		CU(cuEventRecord(start, stream));
		streams_.begin_joined();
		workload_.async(streams_);
		CU(cuEventRecord(end, stream));
		CU(cuStreamSynchronize(stream));
	}

	// The streams of a replay begin after all work of the one before.
	void burst(int n) override {
		for (int i = 0; i < n; i++) {
			streams_.begin_joined();
			workload_.async(streams_);
		}
		CU(cuStreamSynchronize(streams_.stream(0)));
	}

	// Edges are those along streams and those of the waits.
	Plan plan() const override {
		return {streams_.ops(), streams_.ops() - streams_.lanes() + streams_.waits(), streams_.lanes(), streams_.waits()};
	}

private:
	const Workload &workload_;
	Streams streams_;
};

// Replay launches a graph.
class Replay : public Version {
public:
	Replay(const Device &device, std::unique_ptr<Graph> graph) : device_(device), graph_(std::move(graph)) {
		CU(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
		CU(cuGraphInstantiate(&exec_, graph_->handle(), 0));
		CU(cuGraphUpload(exec_, stream_));
		CU(cuStreamSynchronize(stream_));
	}

	~Replay() override {
		cuGraphExecDestroy(exec_);
		cuStreamDestroy(stream_);
	}

	void iterate() override {
		launch();
		wait();
	}

	void iterate_between(CUevent start, CUevent end) override {
		CU(cuEventRecord(start, stream_));
		launch();
		CU(cuEventRecord(end, stream_));
		CU(cuStreamSynchronize(stream_));
	}

	void burst(int n) override {
		for (int i = 0; i < n; i++)
			launch();
		wait();
	}

	// Lanes and syncs are those of the same graph on as few streams as will do.
	Plan plan() const override {
		const auto edges = graph_->edges();
		const auto count = static_cast<int>(edges.list.size()), along = matching(edges);
		return {edges.nodes + static_cast<int>(graph_->prefetches().size()), count, edges.nodes - along, count - along};
	}

	void launch() {
		for (const auto &p : graph_->prefetches())
			enqueue(device_, p, stream_);
		CU(cuGraphLaunch(exec_, stream_));
	}

	void wait() { CU(cuStreamSynchronize(stream_)); }

	CUstream stream() const { return stream_; }

private:
	const Device &device_;
	std::unique_ptr<Graph> graph_;
	CUstream stream_ = nullptr;
	CUgraphExec exec_ = nullptr;
};

// Copies launches the graphs of several workloads in turn, each on a stream of its own. Nothing orders them, as each
// has memory of its own. An iteration is one replay of each.
class Copies : public Version {
public:
	explicit Copies(std::vector<std::unique_ptr<Replay>> replays) : replays_(std::move(replays)) {
		for (std::size_t i = 0; i < replays_.size(); i++) {
			CUevent e = nullptr;
			CU(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
			ended_.push_back(e);
		}
	}

	~Copies() override {
		for (const auto e : ended_)
			cuEventDestroy(e);
	}

	void iterate() override { burst(static_cast<int>(replays_.size())); }

	void iterate_between(CUevent start, CUevent end) override {
		const auto first = replays_[0]->stream();
		CU(cuEventRecord(start, first));
		for (const auto &r : replays_)
			if (r->stream() != first)
				CU(cuStreamWaitEvent(r->stream(), start, 0));
		for (const auto &r : replays_)
			r->launch();
		for (std::size_t i = 1; i < replays_.size(); i++) {
			CU(cuEventRecord(ended_[i], replays_[i]->stream()));
			CU(cuStreamWaitEvent(first, ended_[i], 0));
		}
		CU(cuEventRecord(end, first));
		CU(cuStreamSynchronize(first));
	}

	void burst(int n) override {
		for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++)
			replays_[i % replays_.size()]->launch();
		for (const auto &r : replays_)
			r->wait();
	}

	// plan is that of one of the graphs, which are equal.
	Plan plan() const override { return replays_[0]->plan(); }

private:
	std::vector<std::unique_ptr<Replay>> replays_;
	std::vector<CUevent> ended_; // by replay
};

std::unique_ptr<Replay> by_hand(const Device &device, const Workload &workload) {
	auto graph = std::make_unique<Graph>(device);
	workload.graph(*graph);
	return std::make_unique<Replay>(device, std::move(graph));
}

std::unique_ptr<Version> in_turn(const Device &device, const Workloads &workloads) {
	std::vector<std::unique_ptr<Replay>> replays;
	for (const auto &w : workloads)
		replays.push_back(by_hand(device, *w));
	return std::make_unique<Copies>(std::move(replays));
}

std::unique_ptr<Version> captured(const Device &device, const Workload &workload) {
	Streams streams(device);
	CUgraph graph = nullptr;
	CU(cuStreamBeginCapture(streams.stream(0), CU_STREAM_CAPTURE_MODE_RELAXED));
	streams.begin_capture();
	workload.async(streams);
	CU(cuStreamEndCapture(streams.stream(0), &graph));
	return std::make_unique<Replay>(device, std::make_unique<Graph>(device, graph, streams.prefetches()));
}

std::unique_ptr<Version> chain(const Device &device, const Workload &workload) {
	auto graph = std::make_unique<Graph>(device);
	Nodes last;
	for (const auto *op : workload.serial())
		last = graph->add(*op, {last});
	return std::make_unique<Replay>(device, std::move(graph));
}

} // namespace

const std::vector<std::string> &version_names() {
	static const std::vector<std::string> names = {"sync", "async", "graph", "capture", "graph1", "graph4"};
	return names;
}

int copies_of(const std::string &name) { return name == "graph4" ? 4 : 1; }

std::unique_ptr<Version> make_version(const std::string &name, const Device &device, const Workloads &workloads) {
	const auto &workload = *workloads.at(0);
	if (name == "sync")
		return std::make_unique<Serial>(device, workload);
	if (name == "async")
		return std::make_unique<Async>(device, workload);
	if (name == "graph")
		return by_hand(device, workload);
	if (name == "capture")
		return captured(device, workload);
	if (name == "graph1")
		return chain(device, workload);
	if (name == "graph4")
		return in_turn(device, workloads);
	throw std::logic_error("BUG: no version " + name);
}

} // namespace reprise
