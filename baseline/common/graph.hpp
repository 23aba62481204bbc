// Graphs: built node by node, and how they are launched.
#pragma once

#include <initializer_list>
#include <vector>

#include "op.hpp"

namespace reprise {

// Nodes are what a node may have to run after.
using Nodes = std::vector<CUgraphNode>;

// Graph is a graph with what cannot be a node of it: prefetches, which go before each launch.
class Graph {
public:
	explicit Graph(const Device &device);
	// From a capture.
	Graph(const Device &device, CUgraph graph, std::vector<Op> prefetches);
	~Graph();
	Graph(const Graph &) = delete;
	Graph &operator=(const Graph &) = delete;

	// add makes an operation a node that runs after others. What is no node is nothing to wait for: after it
	// is after what it would have come after. A prefetch is before the launch, whatever it would come after.
	Nodes add(const Op &op, std::initializer_list<Nodes> after = {});

	CUgraph handle() const { return graph_; }
	const std::vector<Op> &prefetches() const { return prefetches_; }

	// edges are pairs of node numbers.
	struct Edges {
		int nodes = 0;
		std::vector<std::pair<int, int>> list;
	};
	Edges edges() const;

private:
	const Device &device_;
	CUgraph graph_ = nullptr;
	std::vector<Op> prefetches_;
};

// matching is the most edges that can be chosen so that no two leave or enter one node: those that run along
// chains. The nodes without them are the chains, and the other edges are what chains wait for.
int matching(const Graph::Edges &edges);

} // namespace reprise
