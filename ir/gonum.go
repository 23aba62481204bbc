package ir

import (
	"slices"

	"gonum.org/v1/gonum/graph"
)

// Gonum's algorithms run on a Graph without conversion: nodes are ids and edges pairs of
// ids, created on demand. All iteration is in ascending order of id.
var _ graph.Directed = (*Graph)(nil)

// node is an operation.
type node struct {
	g  *Graph
	id OpID
}

func (n node) ID() int64 { return int64(n.id) }

// String returns the operation's number as texts have it, such as %3.
func (n node) String() string { return n.id.String() }

type edge struct{ from, to node }

func (e edge) From() graph.Node { return e.from }
func (e edge) To() graph.Node   { return e.to }

// ReversedEdge returns e: a dependency has one direction.
func (e edge) ReversedEdge() graph.Edge { return e }

func (g *Graph) has(id int64) bool { return 0 <= id && id < int64(len(g.Ops)) }

// Node returns the node of operation id, nil when there is none.
func (g *Graph) Node(id int64) graph.Node {
	if !g.has(id) {
		return nil
	}
	return node{g, OpID(id)}
}

// Nodes returns all operations in program order.
func (g *Graph) Nodes() graph.Nodes {
	return g.newNodes(len(g.Ops), func(i int) OpID { return OpID(i) })
}

// From returns the operations that depend on operation id.
func (g *Graph) From(id int64) graph.Nodes {
	if !g.has(id) {
		return graph.Empty
	}
	succs := g.Succs(OpID(id))
	return g.newNodes(len(succs), func(i int) OpID { return succs[i] })
}

// To returns the operations that operation id depends on.
func (g *Graph) To(id int64) graph.Nodes {
	if !g.has(id) {
		return graph.Empty
	}
	deps := g.DepsInto(OpID(id))
	return g.newNodes(len(deps), func(i int) OpID { return deps[i].From })
}

// HasEdgeBetween reports whether one of the operations depends on the other.
func (g *Graph) HasEdgeBetween(xid, yid int64) bool {
	return g.HasEdgeFromTo(xid, yid) || g.HasEdgeFromTo(yid, xid)
}

// HasEdgeFromTo reports whether operation vid depends on operation uid.
func (g *Graph) HasEdgeFromTo(uid, vid int64) bool {
	if !g.has(uid) || !g.has(vid) {
		return false
	}
	_, ok := slices.BinarySearch(g.Succs(OpID(uid)), OpID(vid))
	return ok
}

// Edge returns the dependency of vid on uid, nil when there is none.
func (g *Graph) Edge(uid, vid int64) graph.Edge {
	if !g.HasEdgeFromTo(uid, vid) {
		return nil
	}
	return edge{node{g, OpID(uid)}, node{g, OpID(vid)}}
}

// nodes iterates over n operations by index. The index at is -1 before the first.
type nodes struct {
	g     *Graph
	at, n int
	id    func(int) OpID
}

func (g *Graph) newNodes(n int, id func(int) OpID) graph.Nodes {
	if n == 0 {
		return graph.Empty
	}
	return &nodes{g, -1, n, id}
}

func (it *nodes) Next() bool {
	it.at = min(it.at+1, it.n)
	return it.at < it.n
}

func (it *nodes) Len() int { return it.n - min(it.at+1, it.n) }
func (it *nodes) Reset()   { it.at = -1 }

// Node returns the current operation, nil before the first and after the last.
func (it *nodes) Node() graph.Node {
	if it.at < 0 || it.at >= it.n {
		return nil
	}
	return node{it.g, it.id(it.at)}
}

// NodeSlice returns the remaining operations and leaves the iterator empty.
func (it *nodes) NodeSlice() []graph.Node {
	rest := make([]graph.Node, 0, it.Len())
	for it.Next() {
		rest = append(rest, it.Node())
	}
	return rest
}
