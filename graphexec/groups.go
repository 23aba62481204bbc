package graphexec

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// groups holds the small graphs that the streams back end launches. Each is a chain of consecutive
// operations of one lane, or a single loop or branch. One launch of a graph replaces several calls.
// The graphs are kept after instantiation, because updates name nodes by their handles in them.
type groups struct {
	graphs []device.Graph
	execs  []device.GraphExec
	node   map[ir.OpID]groupNode
	controls
}

// groupNode is the node of an operation in the graph of its group.
type groupNode struct {
	exec device.GraphExec
	node device.Node
}

// group instantiates a graph in which the operations ops of one lane form a chain.
func (b *streamsBackend) group(ops []ir.OpID) (device.GraphExec, error) {
	g, err := b.dev.CreateGraph()
	if err != nil {
		return 0, err
	}
	b.groups.graphs = append(b.groups.graphs, g)
	q := sequence{dev: b.dev, graph: g, top: g, prog: b.prog, stream: b.streams[0], controls: &b.groups.controls}
	nodes := make([]device.Node, len(ops))
	var before []device.Node
	for i, v := range ops {
		if nodes[i], err = q.node(v, before); err != nil {
			return 0, b.prog.error(v, err)
		}
		before = nodes[i : i+1]
	}
	exec, err := b.dev.Instantiate(g)
	if err != nil {
		return 0, err
	}
	b.groups.execs = append(b.groups.execs, exec)
	if b.groups.node == nil {
		b.groups.node = map[ir.OpID]groupNode{}
	}
	for i, v := range ops {
		b.groups.node[v] = groupNode{exec, nodes[i]}
	}
	b.groups.instantiated(exec)
	return exec, nil
}

// destroy frees the graphs and returns the errors.
func (g *groups) destroy(dev device.Device) (errs []error) {
	for _, exec := range g.execs {
		errs = append(errs, dev.DestroyGraphExec(exec))
	}
	for _, graph := range g.graphs {
		errs = append(errs, dev.DestroyGraph(graph))
	}
	return append(errs, g.controls.close(dev))
}
