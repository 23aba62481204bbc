package irtest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// kernels is the PTX of the kernels that Random launches. The kernels do nothing, because
// the graphs are for passes and are not executed.
const kernels = `.version 7.0
.target sm_50
.address_size 64
.visible .entry work() { ret; }
.visible .entry _Z4axpyfPKfPf() { ret; }
`

// Random returns a valid traced graph of the given number of operations:
// launches, copies, memsets, prefetches, host calls and empties over a few buffers of all
// places and roles (some without elements), with aliasing byte ranges, after
// edges, parameters and costs. Temporary and Output buffers are written in
// full before anything reads them, so all schedules that respect the
// hazards have the same results.
func Random(r *rand.Rand, ops int) *ir.Graph {
	b := &builder{r: r, g: &ir.Graph{
		Name:    "random",
		Modules: []ir.Module{{Name: "kernels", File: "kernels.ptx", Source: kernels}},
	}}
	b.params()
	b.buffers()
	for range ops {
		b.op()
	}
	return b.g
}

// builder builds a random graph.
type builder struct {
	r       *rand.Rand
	g       *ir.Graph
	written []bool // by buffer: contents are defined
}

func (b *builder) params() {
	for i := range b.r.IntN(3) {
		t := ir.Type(b.r.IntN(int(ir.F64) + 1))
		b.g.Params = append(b.g.Params, ir.Param{Name: fmt.Sprintf("p%d", i), Value: b.scalar(t)})
	}
}

// scalar returns a random bit pattern, so that NaNs with payloads and negative zeros occur.
func (b *builder) scalar(t ir.Type) ir.Scalar {
	bits := b.r.Uint64() >> b.r.IntN(64)
	return ir.Scalar{Type: t, Bits: bits & (1<<(8*uint(t.Size())) - 1)}
}

// buffers declares 2 to 9 buffers. The first two are a device buffer and a pinned
// buffer that any operation may write, so every kind of operation finds an operand.
func (b *builder) buffers() {
	b.buffer(ir.Place{}, ir.InOut)
	b.buffer(ir.Place{Kind: ir.PinnedHost}, ir.InOut)
	for range b.r.IntN(8) {
		kind := ir.OnDevice
		if b.r.IntN(3) == 0 {
			kind = ir.PlaceKind(b.r.IntN(int(ir.Managed) + 1))
		}
		b.buffer(ir.Place{Kind: kind}, ir.Role(b.r.IntN(int(ir.Constant)+1)))
	}
}

func (b *builder) buffer(place ir.Place, role ir.Role) {
	buf := ir.Buffer{
		Name:  fmt.Sprintf("b%d", len(b.g.Buffers)),
		Elem:  ir.Type(b.r.IntN(int(ir.F64) + 1)),
		Len:   b.r.Int64N(33),
		Place: place,
		Role:  role,
	}
	if b.r.IntN(8) == 0 {
		buf.Len = 0
	}
	b.g.Buffers = append(b.g.Buffers, buf)
	b.written = append(b.written, role != ir.Temporary && role != ir.Output)
}

// op appends a random operation. It appends an empty one if no operands exist for the drawn kind.
func (b *builder) op() {
	op := ir.Op{Cost: -1}
	switch n := b.r.IntN(20); {
	case n < 10:
		b.launch(&op)
	case n < 14:
		b.copy(&op)
	case n < 16:
		b.memset(&op)
	case n < 18:
		op.Kind, op.Label = ir.KindHost, fmt.Sprintf("callback%d", b.r.IntN(3))
		op.Uses = b.uses(ir.PinnedHost, ir.PageableHost)
	case n < 19:
		b.prefetch(&op)
	}
	b.decorate(&op)
	b.define(&op)
	b.g.Ops = append(b.g.Ops, op)
}

// define marks the buffers that op writes in full as defined.
func (b *builder) define(op *ir.Op) {
	for _, a := range op.Accesses(new([2]ir.Access)) {
		if a.Mode.Writes() && a.Lo == 0 && a.Hi == b.g.Buffers[a.Buffer].Size() {
			b.written[a.Buffer] = true
		}
	}
}

// decorate adds the properties that every kind of operation may have.
func (b *builder) decorate(op *ir.Op) {
	if b.r.IntN(4) == 0 {
		op.After = b.after()
	}
	if b.r.IntN(3) == 0 {
		op.Cost = b.r.Int64N(100_000)
	}
	if op.Kind != ir.KindHost && b.r.IntN(6) == 0 {
		op.Label = fmt.Sprintf("étape %d", b.r.IntN(10))
	}
	if b.r.IntN(3) == 0 {
		op.Pos = &ir.Position{File: "main.go", Line: 1 + b.r.IntN(500)}
	}
}

// after draws up to three earlier operations, ascending.
func (b *builder) after() []ir.OpID {
	var ids []ir.OpID
	n := len(b.g.Ops)
	for v := max(0, n-1-b.r.IntN(8)); v < n && len(ids) < 3; v++ {
		if b.r.IntN(3) == 0 {
			ids = append(ids, ir.OpID(v))
		}
	}
	return ids
}

func (b *builder) launch(op *ir.Op) {
	entries := []string{"work", "_Z4axpyfPKfPf"}
	l := &ir.Launch{
		Entry: entries[b.r.IntN(len(entries))],
		Grid:  ir.Dim3{X: 1 + b.r.Uint32N(4096), Y: 1 + b.r.Uint32N(2), Z: 1},
		Block: ir.Dim3{X: 32 << b.r.IntN(4), Y: 1 + b.r.Uint32N(2), Z: 1 + b.r.Uint32N(2)},
	}
	if b.r.IntN(4) == 0 {
		l.Shared = b.r.Uint32N(48 << 10)
	}
	op.Kind, op.Launch = ir.KindLaunch, l
	op.Uses = b.uses(ir.OnDevice, ir.PinnedHost, ir.Managed)
	for _, u := range op.Uses {
		l.Args = append(l.Args, ir.Arg{Kind: ir.ArgBuffer, Buffer: u.Buffer, Offset: u.Lo})
	}
	if b.r.IntN(2) == 0 {
		l.Args = append(l.Args, ir.Arg{Scalar: b.scalar(ir.Type(b.r.IntN(int(ir.F64) + 1)))})
	}
	if n := len(b.g.Params); n > 0 && b.r.IntN(2) == 0 {
		l.Args = append(l.Args, ir.Arg{Kind: ir.ArgParam, Param: ir.ParamID(b.r.IntN(n))})
	}
}

// uses draws up to four accesses to buffers of some places.
func (b *builder) uses(places ...ir.PlaceKind) []ir.Access {
	var uses []ir.Access
	for range b.r.IntN(5) {
		id := ir.BufferID(b.r.IntN(len(b.g.Buffers)))
		if slices.Contains(places, b.g.Buffers[id].Place.Kind) {
			uses = append(uses, b.access(id))
		}
	}
	return uses
}

// access draws an access that the role and the state of the buffer permit.
func (b *builder) access(id ir.BufferID) ir.Access {
	buf := &b.g.Buffers[id]
	if buf.Role == ir.Constant {
		return ir.Access{Range: b.span(id), Mode: ir.Read}
	}
	if !b.written[id] {
		return ir.Access{Range: ir.Range{Buffer: id, Hi: buf.Size()}, Mode: ir.Write}
	}
	modes := []ir.Mode{ir.Read, ir.Read, ir.Read, ir.Write, ir.ReadWrite, ir.Reduce}
	return ir.Access{Range: b.span(id), Mode: modes[b.r.IntN(len(modes))]}
}

// span draws the whole buffer half the time, else a range of its elements.
func (b *builder) span(id ir.BufferID) ir.Range {
	buf := &b.g.Buffers[id]
	lo, hi := int64(0), buf.Len
	if b.r.IntN(2) == 0 {
		lo = b.r.Int64N(buf.Len + 1)
		hi = lo + b.r.Int64N(buf.Len-lo+1)
	}
	return ir.Range{Buffer: id, Lo: lo * buf.Elem.Size(), Hi: hi * buf.Elem.Size()}
}

// copy moves a prefix of one buffer to the start of another that may be
// written; an undefined destination must be covered in full.
func (b *builder) copy(op *ir.Op) {
	n := len(b.g.Buffers)
	src, dst := ir.BufferID(b.r.IntN(n)), ir.BufferID(b.r.IntN(n))
	from, to := &b.g.Buffers[src], &b.g.Buffers[dst]
	if src == dst || to.Role == ir.Constant || !b.written[src] {
		return
	}
	size := min(from.Size(), to.Size())
	if !b.written[dst] && size < to.Size() {
		return
	}
	op.Kind = ir.KindCopy
	op.Copy = &ir.Copy{Dst: ir.Range{Buffer: dst, Hi: size}, Src: ir.Range{Buffer: src, Lo: from.Size() - size, Hi: from.Size()}}
}

// prefetch moves a part of a managed buffer whose contents are defined.
func (b *builder) prefetch(op *ir.Op) {
	id := ir.BufferID(b.r.IntN(len(b.g.Buffers)))
	if b.g.Buffers[id].Place.Kind == ir.Managed && b.written[id] {
		op.Kind, op.Prefetch = ir.KindPrefetch, &ir.Prefetch{Range: b.span(id), ToDevice: b.r.IntN(2) == 0}
	}
}

func (b *builder) memset(op *ir.Op) {
	id := ir.BufferID(b.r.IntN(len(b.g.Buffers)))
	if b.g.Buffers[id].Role == ir.Constant {
		return
	}
	dst := b.access(id).Range
	t := []ir.Type{ir.U8, ir.U16, ir.U32}[b.r.IntN(3)]
	if dst.Lo%t.Size() != 0 || dst.Hi%t.Size() != 0 {
		t = ir.U8
	}
	op.Kind = ir.KindMemset
	op.Memset = &ir.Memset{Dst: dst, Value: b.scalar(t)}
}
