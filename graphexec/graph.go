package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// graphBackend holds the program as one explicit graph. The template outlives
// instantiation because node handles, which updates need, belong to it. Prefetches,
// which a graph cannot hold, go before or after it in the list that is a replay.
type graphBackend struct {
	dev    device.Device
	prog   *program
	graph  device.Graph
	exec   device.GraphExec
	stream device.Stream
	nodes  []device.Node // by operation, 0 for a prefetch
	replay commands
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
	all := sequence{dev: dev, graph: b.graph, prog: p, when: when}
	if b.nodes, err = all.add(); err != nil {
		return nil, err
	}
	if b.exec, err = dev.Instantiate(b.graph); err != nil {
		return nil, err
	}
	cmds := slices.Concat(b.prefetches(when, beforeGraph),
		[]device.Command{{Kind: device.RunGraph, Stream: b.stream, Exec: b.exec}}, b.prefetches(when, afterGraph))
	b.replay, err = compile(dev, cmds)
	return b, err
}

func (b *graphBackend) launch(n int) error { return b.replay.submit(b.dev, n) }

func (b *graphBackend) wait() error { return b.dev.Synchronize(b.stream) }

func (b *graphBackend) update(op ir.OpID) error {
	return b.dev.UpdateNode(b.exec, b.nodes[op], b.prog.work[op])
}

func (b *graphBackend) origin() device.Stream { return b.stream }

func (b *graphBackend) close() error {
	errs := []error{b.replay.close(b.dev)}
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
