package dag

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// Incomparability returns the undirected graph on the nodes of g that joins two nodes if no path leads
// from either one to the other. In a task graph, these can run at the same time. Each colour of a
// colouring is a chain of g.
//
//	0 ──► 1 ──► 3       1 and 2, 2 and 3 are not ordered:
//	└───► 2             1 ── 2 ── 3, so two colours
//
// The graph is perfect: its chromatic number is the width of g, which MinimumChainCover reaches for
// graphs of any size. Time is O(V·E/512 + V²), memory V² bits.
//
// The error is topo.Unorderable if g has a cycle.
func Incomparability(g graph.Directed) (graph.Undirected, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	n := d.Len()
	all, rows := make([]int32, n), make([]dense.Set, n)
	for v := range all {
		all[v], rows[v] = int32(v), dense.NewSet(n)
	}
	for u, reached := range d.Reachability(all, all) {
		for v := u + 1; v < n; v++ {
			if !reached.Has(v) {
				rows[u].Add(v)
				rows[v].Add(u)
			}
		}
	}
	return &bitGraph{newIndex(nodes), rows}, nil
}

// bitGraph is an undirected graph with a bit for each pair of nodes. All iteration is in the order of
// their numbers.
type bitGraph struct {
	index
	rows []dense.Set // by node: its neighbours
}

var _ graph.Undirected = (*bitGraph)(nil)

// Node implements graph.Graph.
func (g *bitGraph) Node(id int64) graph.Node {
	if v, ok := g.of(id); ok {
		return g.nodes[v]
	}
	return nil
}

// Nodes implements graph.Graph.
func (g *bitGraph) Nodes() graph.Nodes {
	all := dense.NewSet(len(g.nodes))
	all.Fill(len(g.nodes))
	return newSetNodes(g.nodes, all)
}

// From implements graph.Graph.
func (g *bitGraph) From(id int64) graph.Nodes {
	v, ok := g.of(id)
	if !ok {
		return graph.Empty
	}
	return newSetNodes(g.nodes, g.rows[v])
}

// HasEdgeBetween implements graph.Graph.
func (g *bitGraph) HasEdgeBetween(xid, yid int64) bool {
	u, known := g.of(xid)
	v, also := g.of(yid)
	return known && also && g.rows[u].Has(int(v))
}

// EdgeBetween implements graph.Undirected.
func (g *bitGraph) EdgeBetween(xid, yid int64) graph.Edge {
	if !g.HasEdgeBetween(xid, yid) {
		return nil
	}
	return simple.Edge{F: g.Node(xid), T: g.Node(yid)}
}

// Edge implements graph.Graph.
func (g *bitGraph) Edge(uid, vid int64) graph.Edge { return g.EdgeBetween(uid, vid) }

// setNodes iterates over the nodes whose numbers are in a set.
type setNodes struct {
	nodes []graph.Node
	set   dense.Set
	all   int // members
	left  int // members behind the current one
	at    int // the current one: -1 before the first and behind the last
}

func newSetNodes(nodes []graph.Node, set dense.Set) graph.Nodes {
	n := set.Count()
	if n == 0 {
		return graph.Empty
	}
	return &setNodes{nodes: nodes, set: set, all: n, left: n, at: -1}
}

// Next implements graph.Iterator.
func (it *setNodes) Next() bool {
	if it.left == 0 {
		it.at = -1
		return false
	}
	it.at = it.set.Next(it.at + 1)
	it.left--
	return true
}

// Len implements graph.Iterator.
func (it *setNodes) Len() int { return it.left }

// Reset implements graph.Iterator.
func (it *setNodes) Reset() { it.left, it.at = it.all, -1 }

// Node implements graph.Nodes.
func (it *setNodes) Node() graph.Node {
	if it.at < 0 {
		return nil
	}
	return it.nodes[it.at]
}

// NodeSlice implements graph.NodeSlicer.
func (it *setNodes) NodeSlice() []graph.Node {
	rest := make([]graph.Node, 0, it.left)
	for it.Next() {
		rest = append(rest, it.Node())
	}
	return rest
}
