package graph

import (
	"fmt"
	"io"
	"strings"
)

// WriteDot writes a graph in the language of Graphviz. Nested graphs become
// clusters. The label of a node is its kind and the lines that describe returns.
func WriteDot(w io.Writer, g *Graph, describe func(*Node) []string) error {
	d := dot{describe: describe, names: map[*Node]string{}}
	d.line("digraph dot {")
	d.graph(g, "graph_1")
	d.line("}")
	_, err := io.WriteString(w, d.out.String())
	return err
}

type dot struct {
	out      strings.Builder
	describe func(*Node) []string
	names    map[*Node]string // by node: the end of its edges
	graphs   int
}

func (d *dot) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

// graph writes a cluster. It has a vertex for each node, also for those that
// contain graphs, since edges lead to them.
func (d *dot) graph(g *Graph, name string) {
	d.graphs++
	d.line("subgraph cluster_%d {", d.graphs)
	d.line("label=%s graph[style=\"dashed\"];", quote(name))
	for i, n := range g.nodes {
		id := fmt.Sprintf("%s_node_%d", name, i)
		d.names[n] = id
		label := append([]string{fmt.Sprint(i), n.params.Kind().String()}, d.describe(n)...)
		d.line("%s[shape=%s label=%s];", quote(id), quote(shape(n.params.Kind())), quote(strings.Join(label, "\n")))
		if nest, ok := n.params.(Nest); ok {
			for k, b := range nest.Bodies() {
				d.graph(b, fmt.Sprintf("%s_graph_%d", id, k))
			}
		}
	}
	for _, e := range g.Edges() {
		d.line("%s -> %s;", quote(d.names[e.From]), quote(d.names[e.To]))
	}
	d.line("}")
}

func shape(k Kind) string {
	switch k {
	case KernelNode:
		return "octagon"
	case MemcpyNode, MemsetNode:
		return "invtrapezium"
	case ChildNode, ConditionalNode:
		return "component"
	case EmptyNode:
		return "ellipse"
	}
	return "rectangle"
}

// quote returns a string literal of the language. Line feeds become line breaks.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
