package graphexec

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// graphBackend holds the program as one explicit graph. The template outlives
// instantiation because node handles, which updates need, belong to it. Prefetches,
// which a graph cannot hold, are lists of the stream that the graph is launched in.
type graphBackend struct {
	dev           device.Device
	prog          *program
	graph         device.Graph
	exec          device.GraphExec
	stream        device.Stream
	nodes         []device.Node      // by operation, 0 for a prefetch
	before, after device.CommandList // 0 for no prefetches
}

func newGraphBackend(dev device.Device, p *program) (_ *graphBackend, err error) {
	b := &graphBackend{dev: dev, prog: p}
	defer func() {
		if err != nil {
			err = device.Join(err, b.close())
		}
	}()
	if b.stream, err = dev.CreateStream(0); err != nil {
		return nil, err
	}
	if b.graph, err = dev.CreateGraph(); err != nil {
		return nil, err
	}
	when, err := surroundings(p)
	if err != nil {
		return nil, err
	}
	if b.before, err = b.list(when, beforeGraph); err != nil {
		return nil, err
	}
	if b.after, err = b.list(when, afterGraph); err != nil {
		return nil, err
	}
	all := sequence{dev: dev, graph: b.graph, prog: p, when: when}
	if b.nodes, err = all.add(); err != nil {
		return nil, err
	}
	b.exec, err = dev.Instantiate(b.graph)
	return b, err
}

func (b *graphBackend) launch() error {
	if b.before != 0 {
		if err := b.dev.SubmitCommands(b.before); err != nil {
			return err
		}
	}
	if err := b.dev.LaunchGraph(b.exec, b.stream); err != nil || b.after == 0 {
		return err
	}
	return b.dev.SubmitCommands(b.after)
}

func (b *graphBackend) wait() error { return b.dev.Synchronize(b.stream) }

func (b *graphBackend) update(op ir.OpID) error {
	return b.dev.UpdateNode(b.exec, b.nodes[op], b.prog.work[op])
}

func (b *graphBackend) origin() device.Stream { return b.stream }

func (b *graphBackend) close() error {
	var errs []error
	for _, l := range []device.CommandList{b.before, b.after} {
		if l != 0 {
			errs = append(errs, b.dev.DestroyCommandList(l))
		}
	}
	if b.exec != 0 {
		errs = append(errs, b.dev.DestroyGraphExec(b.exec))
	}
	if b.graph != 0 {
		errs = append(errs, b.dev.DestroyGraph(b.graph))
	}
	if b.stream != 0 {
		errs = append(errs, b.dev.DestroyStream(b.stream))
	}
	return device.Join(errs...)
}
