package ir

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/graph/encoding"
)

// Attributes returns the attributes of an operation for gonum's encoders: its label, and its cost if
// one is declared. dot.Marshal(g, g.Name, "", "\t") writes a graph for Graphviz, and package importer
// reads that.
func (n node) Attributes() []encoding.Attribute {
	op := &n.g.Ops[n.id]
	title := op.title()
	if op.Control != nil && op.Label == "" {
		title = n.g.condition(op)
	}
	all := []encoding.Attribute{{Key: "label", Value: strconv.Quote(title)}}
	if op.Cost >= 0 {
		all = append(all, encoding.Attribute{Key: "cost", Value: strconv.Quote(fmt.Sprintf("%dns", op.Cost))})
	}
	return all
}

// title returns a short name of an operation: its label, the name of its kernel, or its kind.
func (op *Op) title() string {
	switch {
	case op.Label != "":
		return op.Label
	case op.Kind == KindLaunch && op.Launch != nil:
		return op.Launch.Entry
	}
	return op.Kind.String()
}

// condition returns the name of a loop or a branch without a label: kind and condition in the text form.
func (g *Graph) condition(op *Op) string {
	p := printer{g: g}
	p.text(op.Kind.String())
	p.condition(op)
	return string(p.buf)
}

// Attributes returns the attributes of a dependency for gonum's encoders: its reason as a label.
func (e edge) Attributes() []encoding.Attribute {
	g := e.from.g
	for _, d := range g.DepsInto(e.to.id) {
		if d.From == e.from.id {
			return []encoding.Attribute{{Key: "label", Value: strconv.Quote(g.reason(d))}}
		}
	}
	return nil
}

// reason returns the hazards of a dependency and the bytes that cause it, in the text form.
func (g *Graph) reason(d Dep) string {
	p := printer{g: g}
	p.reason(d)
	return string(p.buf)
}
