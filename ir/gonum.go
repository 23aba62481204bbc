package ir

import (
	"slices"

	"gonum.org/v1/gonum/graph"
)

// Directed returns the graph for algorithms of gonum, without a copy: later changes of g are visible in it. Its nodes
// are the operations, with OpIDs as IDs, and its edges are the dependencies. Both are created on demand, and all
// iteration is in ascending order of id. It is nil for a nil graph.
func (g *Graph) Directed() graph.Directed {
	if g == nil {
		return nil
	}
	return directed{g}
}

// directed is a Graph with the methods of gonum's interface.
type directed struct{ *Graph }

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
func (g directed) Node(id int64) graph.Node {
	if !g.has(id) {
		return nil
	}
	return node{g.Graph, OpID(id)}
}

// Nodes returns all operations in program order.
func (g directed) Nodes() graph.Nodes {
	return g.newNodes(len(g.Ops), func(i int) OpID { return OpID(i) })
}

// From returns the operations that depend on operation id.
func (g directed) From(id int64) graph.Nodes {
	if !g.has(id) {
		return graph.Empty
	}
	succs := g.Succs(OpID(id))
	return g.newNodes(len(succs), func(i int) OpID { return succs[i] })
}

// To returns the operations that operation id depends on.
func (g directed) To(id int64) graph.Nodes {
	if !g.has(id) {
		return graph.Empty
	}
	deps := g.DepsInto(OpID(id))
	return g.newNodes(len(deps), func(i int) OpID { return deps[i].From })
}

// HasEdgeBetween reports whether one of the operations depends on the other.
func (g directed) HasEdgeBetween(xid, yid int64) bool {
	return g.HasEdgeFromTo(xid, yid) || g.HasEdgeFromTo(yid, xid)
}

// HasEdgeFromTo reports whether operation vid depends on operation uid.
func (g directed) HasEdgeFromTo(uid, vid int64) bool {
	if !g.has(uid) || !g.has(vid) {
		return false
	}
	_, ok := slices.BinarySearch(g.Succs(OpID(uid)), OpID(vid))
	return ok
}

// Edge returns the dependency of vid on uid, nil when there is none.
func (g directed) Edge(uid, vid int64) graph.Edge {
	if !g.HasEdgeFromTo(uid, vid) {
		return nil
	}
	return edge{node{g.Graph, OpID(uid)}, node{g.Graph, OpID(vid)}}
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
