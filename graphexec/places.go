package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lowered"
	"github.com/reprise-gpu/reprise/ir"
)

func init() { lowered.Of = func(exec any) (lowered.Program, bool) { return exec.(*Exec).places() } }

// placer is a back end that holds the work of operations in nodes and commands.
type placer interface {
	// place returns the node or the command of an operation of the outermost schedule, and false if it has none.
	place(ir.OpID) (lowered.Handle, bool)
	// inner returns the nodes that controls has recorded.
	inner() *controls
}

// places implements lowered.Of.
func (x *Exec) places() (all lowered.Program, ok bool) {
	b, ok := x.impl.(placer)
	if !ok {
		return all, false
	}
	all.Address = slices.Clone(x.prog.settings.pointer)
	for _, p := range x.prog.programs() {
		for v := range p.sched.Graph.Ops {
			id := p.first + ir.OpID(v)
			op := lowered.Operation{Schedule: p.sched, Op: ir.OpID(v), Name: p.nameHere(ir.OpID(v))}
			if at, ok := b.place(id); ok && p == x.prog {
				op.At = []lowered.Handle{at}
			}
			b.inner().place(id, &op)
			all.Operations = append(all.Operations, op)
		}
	}
	return all, true
}

// place adds the nodes of an operation in bodies, and those that read the scalar of a loop or a branch.
func (k *controls) place(id ir.OpID, op *lowered.Operation) {
	if n, ok := k.conditionals[id]; ok {
		op.At = append(op.At, n.handle())
	}
	for _, n := range k.nodes[id] {
		if n.read != nil {
			op.Reads = append(op.Reads, n.handle())
			continue
		}
		op.At = append(op.At, n.handle())
	}
}

func (n atNode) handle() lowered.Handle {
	return lowered.Handle{Exec: n.exec, Body: n.body, Node: n.node}
}

func (b *graphBackend) inner() *controls { return &b.controls }

func (b *graphBackend) place(op ir.OpID) (h lowered.Handle, ok bool) {
	if at, prefetch := b.index[op]; prefetch {
		return lowered.Handle{List: b.replay.List, Command: at}, true
	}
	if int(op) >= len(b.nodes) || b.nodes[op] == 0 {
		return h, false
	}
	return lowered.Handle{Exec: b.exec, Node: b.nodes[op]}, true
}

func (b *streamsBackend) inner() *controls { return &b.groups.controls }

func (b *streamsBackend) place(op ir.OpID) (h lowered.Handle, ok bool) {
	if n, grouped := b.groups.node[op]; grouped {
		return lowered.Handle{Exec: n.exec, Node: n.node}, true
	}
	if int(op) >= len(b.index) || b.index[op] < 0 {
		return h, false
	}
	return lowered.Handle{List: b.list, Command: b.forks + b.index[op]}, true
}

// addConditional records the conditional node of a loop or a branch in a body.
func (k *controls) addConditional(op ir.OpID, body device.Graph, n device.Node) {
	put(&k.conditionals, op, atNode{body: body, node: n})
}
