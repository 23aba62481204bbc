package graphexec

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// graphBackend replays the program as one explicit graph. The graph is kept after instantiation,
// because updates name nodes by their handles in it. CUDA graphs have no prefetch nodes, so
// prefetches are enqueued before or after the graph. A replay is a command list:
//
//	prefetch … ─► graph ─► prefetch …        all on one stream
type graphBackend struct {
	dev    device.Device
	prog   *program
	stream device.Stream
	instance
}

// instance is an instantiated graph and the command list of a replay. rebuild replaces it as a whole.
type instance struct {
	graph  device.Graph
	exec   device.GraphExec
	nodes  []device.Node // by operation, 0 for a prefetch
	replay parts.Commands
	index  map[ir.OpID]int // by prefetch: the index of its command in replay
	controls
}

func newGraphBackend(dev device.Device, p *program) (_ *graphBackend, err error) {
	b := &graphBackend{dev: dev, prog: p}
	if b.stream, err = dev.CreateStream(0); err != nil {
		return nil, err
	}
	if b.instance, err = b.build(); err != nil {
		return nil, device.Join(err, b.close())
	}
	return b, nil
}

// build instantiates the present program. On an error it frees what it has created.
func (b *graphBackend) build() (i instance, err error) {
	defer func() {
		if err != nil {
			err = device.Join(err, i.close(b.dev))
			i = instance{}
		}
	}()
	when, err := surroundings(b.prog)
	if err != nil {
		return i, err
	}
	if i.graph, err = b.dev.CreateGraph(); err != nil {
		return i, err
	}
	all := sequence{dev: b.dev, graph: i.graph, prog: b.prog, when: when, top: i.graph, stream: b.stream, controls: &i.controls}
	if i.nodes, err = all.add(); err != nil {
		return i, err
	}
	if i.exec, err = b.dev.Instantiate(i.graph); err != nil {
		return i, err
	}
	i.controls.instantiated(i.exec)
	i.index = map[ir.OpID]int{}
	cmds := b.prefetches(&i, nil, when, beforeGraph)
	cmds = append(cmds, device.Command{Kind: device.RunGraph, Stream: b.stream, Exec: i.exec})
	i.replay, err = parts.Compile(b.dev, b.prefetches(&i, cmds, when, afterGraph))
	return i, err
}

// rebuild replaces the instance by one of the present program. It waits first, because the old
// instance may be running and is destroyed. If it fails, the old instance remains.
func (b *graphBackend) rebuild() error {
	if err := b.wait(context.Background()); err != nil {
		return err
	}
	i, err := b.build()
	if err != nil {
		return err
	}
	was := b.instance
	b.instance = i
	return was.close(b.dev)
}

func (b *graphBackend) keeps(op ir.OpID) bool { return int(op) >= len(b.nodes) || b.nodes[op] != 0 }

func (b *graphBackend) launch(n int) error { return b.replay.Submit(b.dev, n) }

func (b *graphBackend) length() int { return b.replay.N }

func (b *graphBackend) wait(ctx context.Context) error {
	return b.dev.SynchronizeContext(ctx, b.stream)
}

// update sets all nodes of the graph in one call into the device, UpdateNodes. If that call fails, it
// updates them one by one to find the operation that failed. Nodes of loops and branches and commands
// of prefetches are always updated one by one.
func (b *graphBackend) update(works []opWork) (int, error) {
	var changes []device.NodeWork
	for _, w := range works {
		if !b.holds(b.prog, w.op) && b.nodes[w.op] != 0 {
			changes = append(changes, device.NodeWork{Node: b.nodes[w.op], Work: w.work})
		}
	}
	together := len(changes) > 0 && b.dev.UpdateNodes(b.exec, changes) == nil
	for i, w := range works {
		var err error
		switch at, prefetch := b.index[w.op]; {
		case b.holds(b.prog, w.op):
			err = b.controls.update(b.dev, w)
		case prefetch:
			err = b.dev.UpdateCommand(b.replay.List, at, w.work)
		case !together:
			err = b.dev.UpdateNode(b.exec, b.nodes[w.op], w.work)
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

func (b *graphBackend) origin() device.Stream { return b.stream }

func (b *graphBackend) close() error {
	return device.Join(b.instance.close(b.dev), b.dev.DestroyStream(b.stream))
}

func (i *instance) close(dev device.Device) error {
	return device.Join(i.replay.Close(dev), parts.DestroyGraph(dev, i.exec, i.graph), i.controls.close(dev))
}
