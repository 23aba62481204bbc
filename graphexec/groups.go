package graphexec

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// groups are the small graphs that streams launch, each a chain of operations of one lane. The
// templates outlive instantiation because nodes, which updates need, belong to them.
type groups struct {
	graphs []device.Graph
	execs  []device.GraphExec
	node   map[ir.OpID]groupNode
	controls
}

// groupNode is where an operation is.
type groupNode struct {
	exec device.GraphExec
	node device.Node
}

// group makes a graph of operations, one after another.
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

// destroy gives up the graphs.
func (g *groups) destroy(dev device.Device) (errs []error) {
	for _, exec := range g.execs {
		errs = append(errs, dev.DestroyGraphExec(exec))
	}
	for _, graph := range g.graphs {
		errs = append(errs, dev.DestroyGraph(graph))
	}
	return append(errs, g.controls.close(dev))
}
