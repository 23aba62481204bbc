package tracer

import (
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// kernel is the kernel of a launch.
func (t *Tracer) kernel(c *calls.Call) *Kernel { return t.kernels[c.Kernel.Number-1] }

// ranged returns the operand that stands for b.
func ranged(b Buffer) calls.Operand {
	return calls.Operand{Kind: ir.ArgBuffer, ID: int32(b.id), Bits: uint64(b.lo), End: b.hi}
}

// perform runs the call in t.hand, of a program that is not recorded. A sink takes the call and returns
// the memory for the next one, so that no call is copied.
func (t *Tracer) perform() {
	if t.sink != nil {
		t.hand = t.sink.Take(t.hand)
		return
	}
	if t.check(t.hand) {
		t.issue(t.hand)
	}
}

// performLaunch runs a launch of a program that is not recorded. It reuses the operands of the last call,
// so that a launch allocates nothing.
func (t *Tracer) performLaunch(k *Kernel, s Shape, values []ir.Arg, args []any, pc uintptr) {
	c := t.hand
	*c = calls.Call{Kind: ir.KindLaunch, Kernel: &k.id, Shape: calls.Shape(s), PC: pc, Operands: c.Operands[:0]}
	for i, v := range values {
		switch v.Kind {
		case ir.ArgBuffer:
			c.Operands = append(c.Operands, ranged(bufferOf(args[i])))
		case ir.ArgParam: // the first value, since only replays set another
			c.Operands = append(c.Operands, calls.Valued(t.graph.Params[v.Param].Value))
		default:
			c.Operands = append(c.Operands, calls.Valued(v.Scalar))
		}
	}
	t.perform()
}

// issue submits the work of a call to the device.
func (t *Tracer) issue(c *calls.Call) {
	op := t.operation(c, &t.issued)
	if c.Kind == ir.KindLaunch {
		t.runLaunch(t.kernel(c), op.Launch, c.PC)
		return
	}
	t.run(&op, lower.Settings{}, c.PC)
}

// operation returns the operation of a call. A launch uses the memory of l, so that it allocates nothing.
// The accesses of a launch are not filled in.
func (t *Tracer) operation(c *calls.Call, l *ir.Launch) ir.Op {
	op := ir.Op{Kind: c.Kind, Cost: -1}
	switch o := c.Operands; c.Kind {
	case ir.KindLaunch:
		args := l.Args[:0]
		for i := range o {
			args = append(args, o[i].Arg())
		}
		*l = ir.Launch{Module: t.kernel(c).module.id, Entry: c.Kernel.Entry, Grid: c.Shape.Grid, Block: c.Shape.Block, Shared: c.Shape.Shared, Args: args}
		op.Launch = l
	case ir.KindCopy:
		op.Copy = &ir.Copy{Dst: o[0].Range(), Src: o[1].Range()}
	case ir.KindMemset:
		op.Memset = &ir.Memset{Dst: o[0].Range(), Value: o[1].Scalar()}
	case ir.KindPrefetch:
		op.Prefetch = &ir.Prefetch{Range: o[0].Range(), ToDevice: o[1].Bits != 0}
	}
	return op
}
