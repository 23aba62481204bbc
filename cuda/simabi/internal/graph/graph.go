package graph

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

// Graph is a set of nodes and the edges between them. Cycles are only detected when
// it is flattened.
type Graph struct {
	// Handle is the caller's name for the graph, 0 until it has one.
	Handle uintptr

	nodes []*Node         // in order of creation
	owner *Node           // the node that contains it, or nil
	twins map[*Node]*Node // of a clone: by node of the original
	turns uint64          // number of times that a node became a sink
}

// Node belongs to one graph, until it is removed.
type Node struct {
	// Handle is the caller's name for the node, 0 until it has one.
	Handle uintptr

	graph      *Graph
	params     Params
	deps, outs []*Node // in the order that edges were added
	sinkSince  uint64  // the turn at which it became a sink, if it is one
	step       int32   // see Flatten
	mark       mark    // of walks
}

// Edge is a dependency: To runs after From.
type Edge struct{ From, To *Node }

// New makes an empty graph.
func New() *Graph { return &Graph{} }

// Nodes are in order of creation. The caller must not change the list.
func (g *Graph) Nodes() []*Node { return g.nodes }

// Owner is the node that contains the graph, or nil.
func (g *Graph) Owner() *Node { return g.owner }

// Graph returns the graph of the node, or nil if the node was removed.
func (n *Node) Graph() *Graph { return n.graph }

// Params returns the parameters of the node.
func (n *Node) Params() Params { return n.params }

// SetParams replaces the parameters by others of the same kind. The node becomes the owner of the graphs in
// p.
func (n *Node) SetParams(p Params) {
	n.params = p
	n.own()
}

// own sets the node as owner of the graphs in it.
func (n *Node) own() {
	if nest, ok := n.params.(Nest); ok {
		for _, b := range nest.Bodies() {
			b.owner = n
		}
	}
}

// Deps and Outs return the predecessors and successors, in the order in which the
// edges were added. The caller must not change the lists.
func (n *Node) Deps() []*Node { return n.deps }

// Outs: see Deps.
func (n *Node) Outs() []*Node { return n.outs }

// Roots returns the nodes without dependencies.
func (g *Graph) Roots() []*Node {
	var roots []*Node
	for _, n := range g.nodes {
		if len(n.deps) == 0 {
			roots = append(roots, n)
		}
	}
	return roots
}

// Sinks returns the nodes without successors, in the order in which they became
// sinks.
func (g *Graph) Sinks() []*Node {
	var sinks []*Node
	for _, n := range g.nodes {
		if len(n.outs) == 0 {
			sinks = append(sinks, n)
		}
	}
	slices.SortFunc(sinks, func(a, b *Node) int { return int(a.sinkSince) - int(b.sinkSince) })
	return sinks
}

// Edges returns the edges ordered by their end, then by the time when they were
// added.
func (g *Graph) Edges() []Edge {
	var edges []Edge
	for _, n := range g.nodes {
		for _, dep := range n.deps {
			edges = append(edges, Edge{dep, n})
		}
	}
	return edges
}

func refuse(format string, args ...any) error {
	return &device.Error{Call: "graph", Code: device.InvalidValue, Detail: fmt.Sprintf(format, args...)}
}

// Add adds a node that depends on deps, which must be distinct nodes of the graph.
// The node takes over the graphs in p.
func (g *Graph) Add(p Params, deps ...*Node) (*Node, error) {
	seen := make(map[*Node]bool, len(deps))
	for _, d := range deps {
		switch {
		case d.graph != g:
			return nil, refuse("a dependency of the new node is not a node of its graph")
		case seen[d]:
			return nil, refuse("a dependency of the new node is given twice")
		}
		seen[d] = true
	}
	n := &Node{graph: g, params: p, deps: slices.Clone(deps)}
	n.own()
	g.nodes = append(g.nodes, n)
	g.ends(n)
	for _, d := range deps {
		d.outs = append(d.outs, n)
	}
	return n, nil
}

// ends records that a node has become a sink.
func (g *Graph) ends(n *Node) {
	g.turns++
	n.sinkSince = g.turns
}

// Connect adds all edges or, with an error, none. They must not exist.
func (g *Graph) Connect(edges []Edge) error {
	if err := g.check(edges, false); err != nil {
		return err
	}
	for _, e := range edges {
		e.From.outs = append(e.From.outs, e.To)
		e.To.deps = append(e.To.deps, e.From)
	}
	return nil
}

// Disconnect removes all edges or, with an error, none. They must exist.
func (g *Graph) Disconnect(edges []Edge) error {
	if err := g.check(edges, true); err != nil {
		return err
	}
	for _, e := range edges {
		e.To.deps = without(e.To.deps, e.From)
		g.cut(e)
	}
	return nil
}

// cut removes an edge from the list of its start.
func (g *Graph) cut(e Edge) {
	e.From.outs = without(e.From.outs, e.To)
	if len(e.From.outs) == 0 {
		g.ends(e.From)
	}
}

// check returns an error if edges cannot be added or, if there is set, removed.
func (g *Graph) check(edges []Edge, there bool) error {
	seen := make(map[Edge]bool, len(edges))
	for _, e := range edges {
		switch {
		case e.From.graph != g || e.To.graph != g:
			return refuse("an edge leads from or to a node that is not of the graph")
		case seen[e]:
			return refuse("an edge is given twice")
		case e.exists() && !there:
			return refuse("an edge exists already")
		case !e.exists() && there:
			return refuse("there is no such edge")
		}
		seen[e] = true
	}
	return nil
}

// exists searches the shorter of the two lists.
func (e Edge) exists() bool {
	if len(e.From.outs) < len(e.To.deps) {
		return slices.Contains(e.From.outs, e.To)
	}
	return slices.Contains(e.To.deps, e.From)
}

// Remove removes a node and its edges.
func (g *Graph) Remove(n *Node) {
	for _, out := range n.outs {
		out.deps = without(out.deps, n)
	}
	for _, dep := range n.deps {
		g.cut(Edge{dep, n})
	}
	g.nodes = without(g.nodes, n)
	n.graph, n.deps, n.outs = nil, nil, nil
}

func without(list []*Node, n *Node) []*Node {
	i := slices.Index(list, n)
	return slices.Delete(list, i, i+1)
}
