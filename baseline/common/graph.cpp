#include "graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reprise {

Graph::Graph(const Device &device) : device_(device) { CU(cuGraphCreate(&graph_, 0)); }

Graph::Graph(const Device &device, CUgraph graph, std::vector<Op> prefetches)
	: device_(device), graph_(graph), prefetches_(std::move(prefetches)) {}

Graph::~Graph() { cuGraphDestroy(graph_); }

Nodes Graph::add(const Op &op, std::initializer_list<Nodes> after) {
	Nodes all;
	for (const auto &nodes : after)
		all.insert(all.end(), nodes.begin(), nodes.end());
	if (is_nothing(op))
		return all;
	if (is_prefetch(op)) {
		prefetches_.push_back(op);
		return all;
	}
	return {add_node(device_, graph_, all, op)};
}

Graph::Edges Graph::edges() const {
	std::size_t nodes = 0, count = 0;
	CU(cuGraphGetNodes(graph_, nullptr, &nodes));
	CU(cuGraphGetEdges(graph_, nullptr, nullptr, &count));
	Nodes all(nodes), from(count), to(count);
	if (nodes > 0)
		CU(cuGraphGetNodes(graph_, all.data(), &nodes));
	if (count > 0)
		CU(cuGraphGetEdges(graph_, from.data(), to.data(), &count));
	std::map<CUgraphNode, int> number;
	for (const auto node : all)
		number.emplace(node, static_cast<int>(number.size()));
	Edges edges;
	edges.nodes = static_cast<int>(nodes);
	for (std::size_t i = 0; i < count; i++)
		edges.list.emplace_back(number.at(from[i]), number.at(to[i]));
	return edges;
}

namespace {

// Matching looks for augmenting paths (M. Hall's theorem makes them enough; graphs here have hundreds of nodes).
class Matching {
public:
	explicit Matching(const Graph::Edges &edges) : successors_(size(edges)), before_(size(edges), none) {
		for (const auto &[from, to] : edges.list)
			successors_[static_cast<std::size_t>(from)].push_back(static_cast<std::size_t>(to));
	}

	int count() {
		int n = 0;
		for (std::size_t from = 0; from < successors_.size(); from++) {
			seen_.assign(successors_.size(), false);
			n += augment(from);
		}
		return n;
	}

private:
	static constexpr std::size_t none = static_cast<std::size_t>(-1);

	static std::size_t size(const Graph::Edges &edges) { return static_cast<std::size_t>(edges.nodes); }

	bool augment(std::size_t from) {
		for (const auto to : successors_[from]) {
			if (seen_[to])
				continue;
			seen_[to] = true;
			if (before_[to] == none || augment(before_[to])) {
				before_[to] = from;
				return true;
			}
		}
		return false;
	}

	std::vector<std::vector<std::size_t>> successors_;
	std::vector<std::size_t> before_; // by node: whose successor along a chain it is
	std::vector<bool> seen_;
};

} // namespace

int matching(const Graph::Edges &edges) { return Matching(edges).count(); }

} // namespace reprise
