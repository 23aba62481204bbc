package graphexec

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// graphBackend holds the program as one explicit graph. The template outlives
// instantiation because node handles, which updates need, belong to it.
type graphBackend struct {
	dev    device.Device
	prog   *program
	graph  device.Graph
	exec   device.GraphExec
	stream device.Stream
	nodes  []device.Node // by operation
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
	if err = b.addNodes(); err != nil {
		return nil, err
	}
	b.exec, err = dev.Instantiate(b.graph)
	return b, err
}

// addNodes adds a node per operation. Its dependencies are the operation before
// it on its lane and those it waits for: exactly what the streams would obey.
func (b *graphBackend) addNodes() error {
	s := b.prog.sched
	b.nodes = make([]device.Node, len(b.prog.work))
	tail := make([]ir.OpID, s.Lanes)
	for lane := range tail {
		tail[lane] = -1
	}
	var deps []device.Node
	for _, op := range s.Order {
		deps = deps[:0]
		lane := s.Lane[op]
		if tail[lane] >= 0 {
			deps = append(deps, b.nodes[tail[lane]])
		}
		for _, u := range s.Waits[op] {
			deps = append(deps, b.nodes[u])
		}
		node, err := b.dev.AddNode(b.graph, deps, b.prog.work[op])
		if err != nil {
			return opError(s.Graph, op, err)
		}
		b.nodes[op], tail[lane] = node, op
	}
	return nil
}

func (b *graphBackend) launch() error { return b.dev.LaunchGraph(b.exec, b.stream) }

func (b *graphBackend) update(op ir.OpID) error {
	return b.dev.UpdateNode(b.exec, b.nodes[op], b.prog.work[op])
}

func (b *graphBackend) origin() device.Stream { return b.stream }

func (b *graphBackend) close() error {
	var errs []error
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
