package optimizer

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// incomparability is the undirected graph that joins the nodes of a dag which no path
// orders, for gonum's algorithms. All iteration is in ascending order.
type incomparability struct {
	dag   *dense.Graph
	rows  []dense.Set
	nodes []graph.Node
	near  [][]graph.Node
}

var _ graph.Undirected = (*incomparability)(nil)

func newIncomparability(d *dense.Graph) *incomparability {
	n := d.Len()
	g := &incomparability{dag: d, rows: make([]dense.Set, n), nodes: make([]graph.Node, n), near: make([][]graph.Node, n)}
	all := make([]int32, n)
	for v := range all {
		all[v] = int32(v)
		g.nodes[v] = simple.Node(v)
		g.rows[v] = dense.NewSet(n)
	}
	for u, reached := range d.Reachability(all, all) {
		for v := u + 1; v < n; v++ {
			if !reached.Has(v) {
				g.rows[u].Add(v)
				g.rows[v].Add(u)
			}
		}
	}
	for u := range g.near {
		for v := g.rows[u].Next(0); v >= 0; v = g.rows[u].Next(v + 1) {
			g.near[u] = append(g.near[u], g.nodes[v])
		}
	}
	return g
}

func (g *incomparability) has(id int64) bool { return 0 <= id && id < int64(len(g.nodes)) }

func (g *incomparability) Node(id int64) graph.Node {
	if !g.has(id) {
		return nil
	}
	return g.nodes[id]
}

func (g *incomparability) Nodes() graph.Nodes { return iterator.NewOrderedNodes(g.nodes) }

func (g *incomparability) From(id int64) graph.Nodes {
	if !g.has(id) {
		return graph.Empty
	}
	return iterator.NewOrderedNodes(g.near[id])
}

func (g *incomparability) HasEdgeBetween(xid, yid int64) bool {
	return g.has(xid) && g.has(yid) && g.rows[xid].Has(int(yid))
}

func (g *incomparability) EdgeBetween(xid, yid int64) graph.Edge {
	if !g.HasEdgeBetween(xid, yid) {
		return nil
	}
	return simple.Edge{F: g.nodes[xid], T: g.nodes[yid]}
}

func (g *incomparability) Edge(uid, vid int64) graph.Edge { return g.EdgeBetween(uid, vid) }
