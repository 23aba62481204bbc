package dag

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
)

// Reduce returns the transitive reduction of g: its nodes, and each edge whose ends no other path joins.
// It is the unique graph with the fewest edges that has the reachability of g (A. V. Aho, M. R. Garey
// and J. D. Ullman, "The transitive reduction of a directed graph", SIAM J. Comput. 1972). The result
// holds the node and edge values of g, so that weights and attributes remain.
//
//	0 ──► 1 ──► 2        0 ──► 1 ──► 2
//	└───────────▲   ==>
//
// A few visits of each edge decide the edges that span few nodes of a topological order, and those that
// are needed because no other path is long enough. The remaining edges are decided by a search from each
// node, or by sweeps over all edges, whichever is estimated to be quicker. A sweep decides for 512 nodes
// with a bitset, or for 16 chains of a chain cover. Time, without the conversion, is O(V·E/512 + E), and
// close to linear on task graphs. Memory is O(V+E).
//
// The error is topo.Unorderable if g has a cycle.
func Reduce(g graph.Directed) (*simple.DirectedGraph, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	reduced := simple.NewDirectedGraph()
	for _, n := range nodes {
		reduced.AddNode(n)
	}
	for _, e := range d.Without(d.ReduceFully().Redundant).Edges() {
		reduced.SetEdge(g.Edge(nodes[e.From].ID(), nodes[e.To].ID()))
	}
	return reduced, nil
}
