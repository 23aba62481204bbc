package irtest

import (
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/ir"
)

// Controlled returns a valid traced graph like Random, some of whose operations are loops and branches, nested up to
// the given depth. Some bodies are analyzed.
func Controlled(r *rand.Rand, ops, depth int) *ir.Graph {
	b := &builder{r: r, g: &ir.Graph{
		Name:    "controlled",
		Modules: []ir.Module{{Name: "kernels", File: "kernels.ptx", Source: kernels}},
	}}
	b.params()
	b.buffers()
	b.scalars()
	b.control(ops, depth, false)
	return b.g
}

// scalars declares a buffer for each type of scalar that a condition may compare.
func (b *builder) scalars() {
	for _, t := range []ir.Type{ir.F32, ir.F64, ir.I32, ir.U32} {
		b.g.Buffers = append(b.g.Buffers, ir.Buffer{Name: "scalar" + t.String(), Elem: t, Len: 1 + b.r.Int64N(3), Role: ir.InOut})
		b.written = append(b.written, true)
	}
}

// control appends operations, of which about a quarter hold bodies. A body has no host calls and no prefetches.
func (b *builder) control(ops, depth int, body bool) {
	for range ops {
		if depth > 0 && b.r.IntN(4) == 0 {
			b.controlOp(depth)
			continue
		}
		b.op()
		if last := &b.g.Ops[len(b.g.Ops)-1]; body && (last.Kind == ir.KindHost || last.Kind == ir.KindPrefetch) {
			last.Kind, last.Prefetch, last.Uses, last.Label = ir.KindEmpty, nil, nil, ""
		}
	}
}

func (b *builder) controlOp(depth int) {
	id := ir.BufferID(len(b.g.Buffers) - 1 - b.r.IntN(4))
	buf := &b.g.Buffers[id]
	at := b.r.Int64N(buf.Len) * buf.Elem.Size()
	c := ir.Control{Condition: ir.Condition{
		Scalar: ir.Range{Buffer: id, Lo: at, Hi: at + buf.Elem.Size()},
		Is:     []ir.Comparison{ir.Below, ir.AtMost, ir.Equal, ir.NotEqual, ir.AtLeast, ir.Above}[b.r.IntN(6)],
		Value:  b.r.NormFloat64(),
	}}
	kind := ir.KindBranch
	if b.r.IntN(2) == 0 {
		kind = ir.KindLoop
		c.Limit, c.Every = 1+b.r.Int64N(9), 1+b.r.Int64N(3)
	}
	c.Bodies = append(c.Bodies, b.body(depth-1, c.Scalar))
	if kind == ir.KindBranch && b.r.IntN(2) == 0 {
		c.Bodies = append(c.Bodies, b.body(depth-1, c.Scalar))
	}
	op := ir.ControlOp(kind, c)
	b.decorate(&op)
	b.g.Ops = append(b.g.Ops, op)
}

// body makes a body that writes the scalar.
func (b *builder) body(depth int, scalar ir.Range) *ir.Graph {
	in := &builder{r: b.r, g: &ir.Graph{Name: b.g.Name, Modules: b.g.Modules, Params: b.g.Params, Buffers: b.g.Buffers}, written: append([]bool(nil), b.written...)}
	in.control(b.r.IntN(5), depth, true)
	in.g.Ops = append(in.g.Ops, ir.Op{Kind: ir.KindMemset, Cost: -1, Memset: &ir.Memset{Dst: scalar, Value: ir.Scalar{Type: ir.U32, Bits: b.r.Uint64() >> 32}}})
	if b.r.IntN(2) == 0 {
		return Analyze(in.g)
	}
	return in.g
}
