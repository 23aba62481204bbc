#include "part.hpp"

#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace reprise::scale {
namespace {

using Nodes = std::vector<CUgraphNode>;

std::size_t index(int parity) { return static_cast<std::size_t>(parity); }

// outer is the row at a side of some rows, and inner the rows without it.
Rows outer(Rows rows, Side side) { return side == above ? Rows{rows.first, rows.first + 1} : Rows{rows.last - 1, rows.last}; }
Rows inner(Rows rows, Side side) { return side == above ? Rows{rows.first + 1, rows.last} : Rows{rows.first, rows.last - 1}; }

} // namespace

Op Kernels::step_with_sums(const Grid &, const Grid &, Rows, CUdeviceptr) const { throw std::logic_error("BUG: a step without norm"); }
Op Kernels::fold(CUdeviceptr, CUdeviceptr, int) const { throw std::logic_error("BUG: a program without norm"); }

Part::Owned::~Owned() {
	if (context == nullptr)
		return;
	cuCtxSetCurrent(context);
	for (const auto event : events)
		cuEventDestroy(event);
	for (const auto p : memory)
		cuMemFree(p);
	for (const auto p : pinned)
		cuMemFreeHost(p);
	if (stream != nullptr)
		cuStreamDestroy(stream);
}

void Part::drop() {
	for (auto &row : owned_.graphs)
		for (auto &exec : row)
			if (exec != nullptr)
				cuGraphExecDestroy(std::exchange(exec, nullptr));
}

Part::Part(const Device &device, const Stencil &stencil, Slab slab) : stencil_(stencil), device_(device), slab_(slab) {
	owned_.context = device.context();
	current();
	kernels_ = stencil.load();
	CU(cuStreamCreate(&owned_.stream, CU_STREAM_NON_BLOCKING));
	for (auto &g : grids_) {
		g = {0, slab.stored.count(), stencil.cols};
		g.at = allocate(g.bytes());
	}
	if (!stencil.norm)
		return;
	// A border row is a launch of its own, whose row of blocks is not full.
	const auto blocks = blocks_of(plane(slab.computed, stencil.cols)) + 2 * blocks_of(plane({0, 1}, stencil.cols));
	partial_ = allocate(static_cast<std::size_t>(blocks) * sizeof(float));
	norm_ = allocate(sizeof(double));
	norm_host_ = pinned<double>(sizeof(double));
}

CUdeviceptr Part::allocate(std::size_t bytes) {
	CUdeviceptr p = 0;
	CU(cuMemAlloc(&p, bytes));
	owned_.memory.push_back(p);
	return p;
}

template <class T> T *Part::pinned(std::size_t bytes) {
	void *p = nullptr;
	CU(cuMemAllocHost(&p, bytes));
	owned_.pinned.push_back(p);
	return static_cast<T *>(p);
}

bool Part::reaches(const Part &other) const {
	int can = 0;
	CU(cuDeviceCanAccessPeer(&can, device_.handle(), other.device_.handle()));
	return can != 0;
}

// open makes the events of a border, and the memory in which rows wait to leave.
void Part::open(Side side, Way way) {
	current();
	auto &b = borders_[side];
	b.way = way;
	for (auto &event : b.left) {
		CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
		owned_.events.push_back(event);
	}
	if (way != Way::direct)
		for (auto &out : b.out)
			out = pinned<std::byte>(grids_[0].row_bytes());
}

void Part::connect(Part &upper, Part &lower, bool peers) {
	const bool direct = peers && upper.reaches(lower) && lower.reaches(upper);
	for (const auto &[part, side, other] : {std::tuple{&upper, below, &lower}, {&lower, above, &upper}}) {
		part->open(side, direct ? Way::direct : Way::staged);
		part->borders_[side].neighbour = other;
		if (direct)
			CU(cuCtxEnablePeerAccess(other->device_.context(), 0));
	}
	upper.borders_[below].in = lower.borders_[above].out;
	lower.borders_[above].in = upper.borders_[below].out;
}

void Part::connect(Side side, int rank) {
	open(side, Way::message);
	auto &b = borders_[side];
	b.rank = rank;
	for (auto &in : b.in)
		in = pinned<std::byte>(grids_[0].row_bytes());
}

std::vector<Message> Part::messages(int parity) const {
	std::vector<Message> list;
	for (const auto side : sides) {
		const auto &b = borders_[side];
		if (b.way != Way::message)
			continue;
		list.push_back({b.rank, side, true, b.out[index(parity)], grids_[0].row_bytes()});
		list.push_back({b.rank, opposite(side), false, b.in[index(parity)], grids_[0].row_bytes()});
	}
	return list;
}

void Part::start(const std::vector<float> &from, const std::vector<float> &to) {
	current();
	const auto cols = static_cast<std::size_t>(stencil_.cols);
	const auto *first = from.data() + static_cast<std::size_t>(slab_.stored.first) * cols;
	CU(cuMemcpyHtoD(grids_[0].at, first, grids_[0].bytes()));
	CU(cuMemcpyHtoD(grids_[1].at, to.data() + static_cast<std::size_t>(slab_.stored.first) * cols, grids_[1].bytes()));
	for (const auto side : sides) {
		const auto &b = borders_[side];
		if (b.way != Way::staged && b.way != Way::message)
			continue;
		const auto row = static_cast<std::size_t>(side == above ? 0 : grids_[0].rows - 1);
		for (auto *in : b.in)
			std::memcpy(in, first + row * cols, grids_[0].row_bytes());
	}
}

std::vector<float> Part::read(int which) const {
	current();
	const auto rows = slab_.local(slab_.computed);
	std::vector<float> v(static_cast<std::size_t>(rows.count()) * static_cast<std::size_t>(stencil_.cols));
	CU(cuMemcpyDtoH(v.data(), grids_[index(which)].row(rows.first), v.size() * sizeof(float)));
	return v;
}

void Part::build(bool norm) {
	current();
	for (int parity = 0; parity < 2; parity++)
		for (int with = 0; with <= (norm ? 1 : 0); with++) {
			auto &exec = owned_.graphs[parity][with];
			exec = instantiate(parity, with != 0);
			CU(cuGraphUpload(exec, owned_.stream));
		}
	synchronize();
}

// Builder makes the graph of a step:
//
//	the neighbour's row has arrived ─► its copy from pinned memory ─► border row ─► copy to the neighbour ─► event
//	the rows inside
//
// with the sum of the norm after all rows. The rows inside wait for nothing: those that they read are of the step before on this
// device. They are launched with the least priority.
struct Part::Builder {
	Builder(Part &part, int parity, bool norm)
		: p(part), now(index(parity)), before(index(1 - parity)), from(part.grids_[now]), to(part.grids_[before]), with_norm(norm) {
		CU(cuGraphCreate(&graph, 0));
		CU(cuCtxGetStreamPriorityRange(&least, &greatest));
	}
	~Builder() { cuGraphDestroy(graph); }
	Builder(const Builder &) = delete;
	Builder &operator=(const Builder &) = delete;

	CUgraphNode add(const Op &op, const Nodes &after) const { return add_node(p.device_, graph, after, op); }

	// arrived returns the nodes after which a neighbour's row is in the grid.
	Nodes arrived(Side side) const {
		const auto &b = p.borders_[side];
		Nodes nodes;
		if (b.neighbour != nullptr) {
			CUgraphNode node = nullptr;
			CU(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, b.neighbour->borders_[opposite(side)].left[before]));
			nodes = {node};
		}
		if (b.way == Way::direct)
			return nodes;
		return {add(Copy{row(from, side == above ? 0 : from.rows - 1, b.in[before]), true}, nodes)};
	}

	// leave copies a row that the step has computed to a neighbour.
	void leave(Side side, Rows computed, CUgraphNode after) const {
		const auto &b = p.borders_[side];
		const auto rows = outer(computed, side);
		CUgraphNode copied = nullptr;
		if (b.way == Way::direct)
			copied = copy_to(*b.neighbour, opposite(side), to.row(rows.first), after);
		else
			copied = add(Copy{row(to, rows.first, b.out[now]), false}, {after});
		CUgraphNode node = nullptr;
		CU(cuGraphAddEventRecordNode(&node, graph, &copied, 1, b.left[now]));
	}

	// copy_to copies a row to the outermost row of a neighbour's grid.
	CUgraphNode copy_to(const Part &neighbour, Side side, CUdeviceptr row, CUgraphNode after) const {
		const auto &grid = neighbour.grids_[before];
		CUDA_MEMCPY3D params{};
		params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
		params.srcDevice = row;
		params.dstDevice = grid.row(side == above ? 0 : grid.rows - 1);
		params.WidthInBytes = grid.row_bytes(), params.Height = 1, params.Depth = 1;
		CUgraphNode node = nullptr;
		CU(cuGraphAddMemcpyNode(&node, graph, &after, 1, &params, p.device_.context()));
		return node;
	}

	static Block row(const Grid &grid, int y, std::byte *host) {
		Block block;
		block.dev = grid.row(y), block.host = host, block.bytes = grid.row_bytes();
		return block;
	}

	// compute launches rows.
	CUgraphNode compute(Rows rows, const Nodes &after, int priority) {
		const auto op = with_norm ? p.kernels_->step_with_sums(to, from, rows, p.partial_ + static_cast<std::size_t>(blocks) * sizeof(float))
								  : p.kernels_->step(to, from, rows);
		blocks += blocks_of(std::get<Launch>(op).shape);
		const auto node = add(op, after);
		CUlaunchAttributeValue value{};
		value.priority = priority;
		CU(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
		rows_done.push_back(node);
		return node;
	}

	void borders(Rows computed) {
		Rows rest = computed;
		for (const auto side : sides) {
			if (p.borders_[side].way == Way::none || rest.empty())
				continue;
			auto after = arrived(side);
			// The only row borders on both sides.
			const bool both = computed.count() == 1 && p.borders_[opposite(side)].way != Way::none;
			if (both)
				for (const auto node : arrived(opposite(side)))
					after.push_back(node);
			const auto node = compute(outer(rest, side), after, greatest);
			leave(side, computed, node);
			if (both)
				leave(opposite(side), computed, node);
			rest = inner(rest, side);
		}
		if (!rest.empty())
			compute(rest, {}, least);
	}

	void sum() {
		const auto folded = add(p.kernels_->fold(p.norm_, p.partial_, blocks), rows_done);
		Block block;
		block.dev = p.norm_, block.host = reinterpret_cast<std::byte *>(p.norm_host_), block.bytes = sizeof(double);
		add(Copy{block, false}, {folded});
	}

	Part &p;
	const std::size_t now, before;
	const Grid from, to;
	const bool with_norm;
	CUgraph graph = nullptr;
	int least = 0, greatest = 0;
	int blocks = 0;
	Nodes rows_done;
};

CUgraphExec Part::instantiate(int parity, bool norm) {
	Builder b(*this, parity, norm);
	b.borders(slab_.local(slab_.computed));
	if (norm)
		b.sum();
	CUgraphExec exec = nullptr;
	CU(cuGraphInstantiate(&exec, b.graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	return exec;
}

} // namespace reprise::scale
