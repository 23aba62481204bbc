package main

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/encoding"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/ir"
)

// draw returns a graph for Graphviz. A loop or a branch is a node in a box, together with a box for each body. Nodes
// have the numbers of the operations; in a body, the path to it is in front, as in 3/0 and 3/else/0.
func draw(g *ir.Graph) ([]byte, error) {
	d := &drawing{DirectedGraph: simple.NewDirectedGraph()}
	d.add(g, "")
	return dot.Marshal(d, g.Name, "", "\t")
}

// drawing is a graph, or a box in one.
type drawing struct {
	*simple.DirectedGraph
	name, label string
	boxes       []*drawing
}

func (d *drawing) DOTID() string { return d.name }

// DOTAttributers returns the label of a box.
func (d *drawing) DOTAttributers() (graph, node, edge encoding.Attributer) {
	of := encoding.Attributes{}
	if d.label != "" {
		of = append(of, encoding.Attribute{Key: "label", Value: strconv.Quote(d.label)})
	}
	return &of, &encoding.Attributes{}, &encoding.Attributes{}
}

// Structure returns the boxes.
func (d *drawing) Structure() (all []dot.Graph) {
	for _, b := range d.boxes {
		all = append(all, b)
	}
	return all
}

// add adds the operations of a graph, and boxes for its loops and branches.
func (d *drawing) add(g *ir.Graph, path string) {
	for v := range g.Ops {
		n := drawn{g.Node(int64(v)), path}
		d.AddNode(n)
		if c := g.Ops[v].Control; c != nil {
			d.boxes = append(d.boxes, boxOf(n, c))
		}
	}
	for v := range g.Ops {
		for _, to := range graph.NodesOf(g.From(int64(v))) {
			d.SetEdge(drawnEdge{g.Edge(int64(v), to.ID()), d.Node(int64(v)), d.Node(to.ID())})
		}
	}
}

// boxOf returns the box of a loop or a branch.
func boxOf(n drawn, c *ir.Control) *drawing {
	box := &drawing{DirectedGraph: simple.NewDirectedGraph(), name: "cluster_" + n.DOTID()}
	box.AddNode(n)
	for i, body := range c.Bodies {
		label, path := "body", n.DOTID()+"/"
		switch {
		case i == 1:
			label, path = "else", path+"else/"
		case len(c.Bodies) == 2:
			label = "then"
		}
		inner := &drawing{DirectedGraph: simple.NewDirectedGraph(), name: "cluster_" + path, label: label}
		inner.add(body, path)
		box.boxes = append(box.boxes, inner)
	}
	return box
}

// drawn is an operation, in a body at a path.
type drawn struct {
	graph.Node
	path string
}

func (n drawn) DOTID() string { return fmt.Sprintf("%s%d", n.path, n.ID()) }

// Attributes are those of the operation.
func (n drawn) Attributes() []encoding.Attribute { return attributes(n.Node) }

// drawnEdge is a dependency between drawn operations.
type drawnEdge struct {
	graph.Edge
	from, to graph.Node
}

func (e drawnEdge) From() graph.Node { return e.from }
func (e drawnEdge) To() graph.Node   { return e.to }

// Attributes are those of the dependency.
func (e drawnEdge) Attributes() []encoding.Attribute { return attributes(e.Edge) }

func attributes(of any) []encoding.Attribute { return of.(encoding.Attributer).Attributes() }
