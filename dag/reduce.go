package dag

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
)

// Reduce returns the transitive reduction of g: its nodes, and those of its edges that no other path
// joins the ends of. It is the only least graph with the paths of g (A. V. Aho, M. R. Garey and
// J. D. Ullman, "The transitive reduction of a directed graph", SIAM J. Comput. 1972).
//
//	0 ──► 1 ──► 2        0 ──► 1 ──► 2
//	└───────────▲   ==>
//
// Edges that span few nodes of a topological order, and those that the lengths of paths show to be
// needed, are decided by looking at each edge a few times. A search from each node decides the others, or
// sweeps over all edges if these are estimated to be quicker: one for 512 nodes with a bitset, or
// one for 16 chains of a cover with chains. Time is at most O(V·E/512 + E) beside the conversion, and
// close to linear on graphs of tasks; memory is O(V+E).
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
