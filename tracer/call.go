package tracer

import (
	"github.com/reprise-gpu/reprise/internal/lower"
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

// operand is an argument of a launch; of other work a range, or the value that goes with it. It is small because
// a watcher keeps thousands.
type operand struct {
	kind ir.ArgKind
	typ  ir.Type // of a scalar
	id   int32   // of a buffer or parameter
	bits uint64  // of a scalar; of a buffer where the slice begins
	end  int64   // of the slice, which bounds what is reached
}

func ranged(b Buffer) operand {
	return operand{kind: ir.ArgBuffer, id: int32(b.id), bits: uint64(b.lo), end: b.hi}
}

func valued(v ir.Scalar) operand {
	return operand{kind: ir.ArgScalar, typ: v.Type, bits: v.Bits}
}

func (o *operand) scalar() ir.Scalar { return ir.Scalar{Type: o.typ, Bits: o.bits} }

func (o *operand) span() ir.Range {
	return ir.Range{Buffer: ir.BufferID(o.id), Lo: int64(o.bits), Hi: o.end}
}

// arg is the operand as an argument of a launch.
func (o *operand) arg() ir.Arg {
	switch o.kind {
	case ir.ArgBuffer:
		return ir.Arg{Kind: ir.ArgBuffer, Buffer: ir.BufferID(o.id), Offset: int64(o.bits)}
	case ir.ArgParam:
		return ir.Arg{Kind: ir.ArgParam, Param: ir.ParamID(o.id)}
	}
	return ir.Arg{Kind: ir.ArgScalar, Scalar: o.scalar()}
}

// blank is where the next call goes, with the memory for operands of another.
func (t *Tracer) blank() *call {
	if t.watch != nil {
		return &t.watch.at(t.watch.n).call
	}
	return &t.hand
}

// perform does work of a program that is not recorded, of a call made in a blank.
func (t *Tracer) perform(c *call) {
	if t.watch != nil {
		t.watch.see()
		return
	}
	if t.check(c) {
		t.issue(c)
	}
}

// performLaunch does a launch of a program that is not recorded.
func (t *Tracer) performLaunch(k *Kernel, s Shape, values []ir.Arg, args []any, pc uintptr) {
	c := t.blank()
	*c = call{ir.KindLaunch, k, s, pc, c.operands[:0]}
	for i, v := range values {
		switch v.Kind {
		case ir.ArgBuffer:
			c.operands = append(c.operands, ranged(args[i].(Buffer)))
		case ir.ArgParam: // nobody gives it another value while the program runs
			c.operands = append(c.operands, valued(t.graph.Params[v.Param].Value))
		default:
			c.operands = append(c.operands, valued(v.Scalar))
		}
	}
	t.perform(c)
}

// issue submits the work of a call.
func (t *Tracer) issue(c *call) {
	op := t.operation(c, &t.issued)
	if c.kind == ir.KindLaunch {
		t.runLaunch(c.kernel, op.Launch, c.pc)
		return
	}
	t.run(&op, lower.Settings{}, c.pc)
}

// operation is a call as an operation, if a launch then in the memory of l. It says nothing of what a launch accesses.
func (t *Tracer) operation(c *call, l *ir.Launch) ir.Op {
	op := ir.Op{Kind: c.kind, Cost: -1}
	switch o := c.operands; c.kind {
	case ir.KindLaunch:
		args := l.Args[:0]
		for i := range o {
			args = append(args, o[i].arg())
		}
		*l = ir.Launch{Module: c.kernel.module.id, Entry: c.kernel.entry, Grid: c.shape.Grid, Block: c.shape.Block, Shared: c.shape.Shared, Args: args}
		op.Launch = l
	case ir.KindCopy:
		op.Copy = &ir.Copy{Dst: o[0].span(), Src: o[1].span()}
	case ir.KindMemset:
		op.Memset = &ir.Memset{Dst: o[0].span(), Value: o[1].scalar()}
	case ir.KindPrefetch:
		op.Prefetch = &ir.Prefetch{Range: o[0].span(), ToDevice: o[1].bits != 0}
	}
	return op
}
