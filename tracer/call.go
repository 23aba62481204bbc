package tracer

import (
	"github.com/reprise-gpu/reprise/ir"
)

// call is work that a program asked for, with all that it depends on.
type call struct {
	kind     ir.Kind
	kernel   *Kernel // of a launch
	shape    Shape   // of a launch
	pc       uintptr // return address of the traced call
	operands []operand
}

// operand is an argument of a launch; of other work a range, or the value that goes with it. A slice
// is its end, too, since that bounds what is reached.
type operand struct {
	ir.Arg
	end int64
}

func ranged(b Buffer) operand {
	return operand{ir.Arg{Kind: ir.ArgBuffer, Buffer: b.id, Offset: b.lo}, b.hi}
}

func valued(v ir.Scalar) operand { return operand{Arg: ir.Arg{Kind: ir.ArgScalar, Scalar: v}} }

// span is the range that an operand is.
func (o *operand) span() ir.Range { return ir.Range{Buffer: o.Buffer, Lo: o.Offset, Hi: o.end} }

// perform does work of a program that is not recorded.
func (t *Tracer) perform(c call) { t.issue(&c) }

// performLaunch does a launch of a program that is not recorded.
func (t *Tracer) performLaunch(k *Kernel, s Shape, values []ir.Arg, args []any, pc uintptr) {
	operands := t.operands[:0]
	for i, v := range values {
		o := operand{Arg: v}
		switch v.Kind {
		case ir.ArgBuffer:
			o.end = args[i].(Buffer).hi
		case ir.ArgParam: // nobody gives it another value while the program runs
			o.Arg = ir.Arg{Kind: ir.ArgScalar, Scalar: t.graph.Params[v.Param].Value}
		}
		operands = append(operands, o)
	}
	t.operands = operands
	t.perform(call{ir.KindLaunch, k, s, pc, operands})
}

// issue submits the work of a call.
func (t *Tracer) issue(c *call) {
	op := t.operation(c, &t.issued)
	switch op.Kind {
	case ir.KindLaunch:
		t.runLaunch(c.kernel, op.Launch, c.pc)
	case ir.KindCopy:
		t.runCopy(op.Copy, c.pc)
	case ir.KindMemset:
		t.runMemset(op.Memset, c.pc)
	case ir.KindPrefetch:
		t.runPrefetch(op.Prefetch, c.pc)
	}
}

// operation is a call as an operation, if a launch then in the memory of l. It says nothing of what a launch accesses.
func (t *Tracer) operation(c *call, l *ir.Launch) ir.Op {
	op := ir.Op{Kind: c.kind, Cost: -1}
	switch o := c.operands; c.kind {
	case ir.KindLaunch:
		args := l.Args[:0]
		for i := range o {
			args = append(args, o[i].Arg)
		}
		*l = ir.Launch{Module: c.kernel.module.id, Entry: c.kernel.entry, Grid: c.shape.Grid, Block: c.shape.Block, Shared: c.shape.Shared, Args: args}
		op.Launch = l
	case ir.KindCopy:
		op.Copy = &ir.Copy{Dst: o[0].span(), Src: o[1].span()}
	case ir.KindMemset:
		op.Memset = &ir.Memset{Dst: o[0].span(), Value: o[1].Scalar}
	case ir.KindPrefetch:
		op.Prefetch = &ir.Prefetch{Range: o[0].span(), ToDevice: o[1].Scalar.Bits != 0}
	}
	return op
}
