package tracer

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// SliceError reports that a launch certainly touches bytes outside a slice that it is passed. The slice
// is a promise that the kernel stays inside it, on which dependencies rely.
type SliceError struct {
	Kernel, Parameter string
	Buffer            string    // name of the sliced buffer
	Slice             ir.Range  // the slice that is passed
	Reach             ir.Range  // bytes that the launch reaches through the parameter; empty if only Touched is known
	Touched           ir.Range  // bytes outside the slice that one thread touches
	Write             bool      // whether the thread writes Touched
	Block, Thread     [3]uint32 // indices of the thread
	At                string    // "kernel.ptx:12", the instruction
}

func (e *SliceError) Error() string {
	verb := "reads"
	if e.Write {
		verb = "writes"
	}
	reach := ""
	if !e.Reach.Empty() {
		reach = fmt.Sprintf("reaches @%s[%d:%d] through it and ", e.Buffer, e.Reach.Lo, e.Reach.Hi)
	}
	return fmt.Sprintf("kernel %s is passed the slice @%s[%d:%d] (bytes) for %s, but %s%s @%s[%d:%d] in thread %s of block %s (%s): pass a slice that holds all it reaches",
		e.Kernel, e.Buffer, e.Slice.Lo, e.Slice.Hi, e.Parameter, reach, verb, e.Buffer, e.Touched.Lo, e.Touched.Hi, at(e.Thread), at(e.Block), e.At)
}

func at(i [3]uint32) string { return fmt.Sprintf("(%d,%d,%d)", i[0], i[1], i[2]) }

// isSlice reports whether an argument of a launch is a part of a buffer. A whole buffer is no promise.
func isSlice(arg any) bool {
	b := bufferOf(arg)
	return b.t != nil && !b.whole()
}

// wholeBuffer stands for an argument that is no slice.
var wholeBuffer = ir.Range{Lo: math.MinInt64, Hi: math.MaxInt64}

// sliced returns, by argument of a launch, its slice, or wholeBuffer if it is not one.
func sliced(args []any) []ir.Range {
	list := make([]ir.Range, len(args))
	for i, a := range args {
		list[i] = wholeBuffer
		if isSlice(a) {
			list[i] = bufferOf(a).Range()
		}
	}
	return list
}

// promise keeps the slices of a launch whose reach depends on replay parameters, so that Stays can check
// them again when a replay sets a parameter.
func (t *Tracer) promise(l *ir.Launch, args []any) {
	varies := slices.ContainsFunc(l.Args, func(a ir.Arg) bool { return a.Kind == ir.ArgParam })
	if varies && slices.ContainsFunc(args, isSlice) {
		if t.promises == nil {
			t.promises = map[*ir.Launch][]ir.Range{}
		}
		t.promises[l] = sliced(args)
	}
}

// stays returns a SliceError if a launch of g certainly leaves one of its slices. slices has one range
// for each argument, and value returns the values of parameters.
func (t *Tracer) stays(g *ir.Graph, k *Kernel, s Shape, values []ir.Arg, slices []ir.Range, value func(ir.ParamID) ir.Scalar) error {
	r := k.reach
	r.begin(&s)
	for i := range values {
		t.known(r, i, &k.params[i], &values[i], value)
	}
	r.hulls()
	for i, slice := range slices {
		if slice == wholeBuffer || !k.params[i].reached {
			continue
		}
		if e := r.leaves(i, &k.params[i], slice); e != nil {
			e.Buffer = g.Buffers[slice.Buffer].Name
			return e
		}
	}
	return nil
}

// leaves returns how the launch leaves the slice that it is passed for parameter i. It returns nil unless
// that is certain.
//
// It has two steps. The reach, an upper bound that is cheap to compute, settles the usual case in which
// all of it is inside the slice. Otherwise Outside searches for one thread that executes an access
// outside the slice. Without such a thread the bound was too wide, and the slice is trusted.
func (r *reacher) leaves(i int, p *param, slice ir.Range) *SliceError {
	if r.addresses || !p.ranged || r.rows[i] < 0 {
		return nil
	}
	within, reach := access.Span{Hi: slice.Hi - slice.Lo}, r.out[r.rows[i]]
	if within.Holds(reach.Read) && within.Holds(reach.Write) {
		return nil
	}
	if work := r.launch.Work; work != nil && *work < minWork {
		return nil
	}
	t, ok := r.footprint.Outside(&r.launch, r.rows[i], within)
	if !ok {
		return nil
	}
	bytes := func(s access.Span) ir.Range {
		return ir.Range{Buffer: slice.Buffer, Lo: slice.Lo + s.Lo, Hi: slice.Lo + s.Hi}
	}
	e := &SliceError{
		Kernel: r.kernel, Parameter: p.name, Slice: slice, Touched: bytes(t.Span),
		Write: t.Access&access.Write != 0, Block: t.Block, Thread: t.Thread, At: fmt.Sprintf("%s:%d", r.file, t.Pos.Line),
	}
	if s := reach.Read.Union(reach.Write); s.Lo > math.MinInt32 && s.Hi < math.MaxInt64-slice.Lo {
		e.Reach = bytes(s)
	}
	return e
}

// Stays implements traced.Trace.
func (tr view) Stays(g *ir.Graph, id ir.OpID, grid ir.Dim3, value func(ir.ParamID) ir.Scalar) error {
	switch {
	case tr.Trace == nil || tr.t == nil:
		return errNoTrace
	case g == nil:
		return absent.Nil("the graph")
	case value == nil:
		return absent.Nil("the function for values of parameters")
	case id < 0 || int(id) >= g.Len() || g.Ops[id].Launch == nil:
		return fmt.Errorf("graph %s has no launch %v", g.Name, id)
	}
	for _, part := range g.Merged[id] { // a merged launch stays inside if its parts do
		if err := tr.partStays(g, part.Op, part.Launch, value); err != nil {
			return err
		}
	}
	if _, is := g.Sliced[id]; is && g.Merged[id] == nil { // a slice stays inside if the whole launch does
		own := traced.Origin(g, id)
		return tr.Stays(tr.Graph, own, tr.Graph.Ops[own].Launch.Grid, value)
	}
	k := tr.kernelOf(g.Ops[id].Launch, len(g.Buffers))
	if k == nil {
		return nil
	}
	l, slices := tr.promised(g, id)
	if slices == nil {
		return nil
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.t.stays(g, k, Shape{Grid: grid, Block: l.Block, Shared: l.Shared}, l.Args, slices, value)
}

// partStays is Stays for a launch that is a part of a merged one in g. Ids in a body, which has no Trace, are not those of
// the trace. Its launches are.
func (tr view) partStays(g *ir.Graph, id ir.OpID, l *ir.Launch, value func(ir.ParamID) ir.Scalar) error {
	if g.Trace == tr.Graph.Trace {
		return tr.Stays(tr.Graph, id, l.Grid, value)
	}
	if tr.t.promises[l] == nil { // its reach does not depend on parameters
		return nil
	}
	part := *g
	part.Ops, part.Merged, part.Origin = []ir.Op{{Kind: ir.KindLaunch, Launch: l}}, nil, nil
	return tr.Stays(&part, 0, l.Grid, value)
}

// promised returns a launch of a plan and its slices. The slices are nil if the reach of the launch does
// not depend on parameters.
func (tr *Trace) promised(g *ir.Graph, id ir.OpID) (*ir.Launch, []ir.Range) {
	op := &g.Ops[id]
	if slices, ok := tr.t.promises[op.Launch]; ok { // also in a body, whose graph is not that of the trace
		return op.Launch, slices
	}
	if own := tr.own(g, id); own != nil {
		return own.Launch, tr.t.promises[own.Launch]
	}
	return op.Launch, used(g, op)
}

// own returns the operation of the trace from which launch id of a plan was made. It is nil if the plan
// was read from text and has another launch there.
func (tr *Trace) own(g *ir.Graph, id ir.OpID) *ir.Op {
	traced := int(traced.Origin(g, id))
	if traced >= tr.Graph.Len() || tr.Graph.Ops[traced].Launch == nil {
		return nil
	}
	if own := &tr.Graph.Ops[traced]; g.Trace == tr.Graph.Trace || sameLaunch(own, &g.Ops[id]) {
		return own
	}
	return nil
}

func sameLaunch(a, b *ir.Op) bool {
	l, m := a.Launch, b.Launch
	return l.Module == m.Module && l.Entry == m.Entry && l.Grid == m.Grid && l.Block == m.Block && l.Shared == m.Shared &&
		slices.Equal(l.Args, m.Args) && slices.Equal(l.Maps, m.Maps) && slices.Equal(a.Uses, b.Uses)
}

// kernelOf returns the kernel of a launch of a plan. buffers is the number of buffers of the plan. It
// returns nil if the trace has no such kernel, or if its parameters do not fit the arguments.
func (tr *Trace) kernelOf(l *ir.Launch, buffers int) *Kernel {
	if l.Module < 0 || int(l.Module) >= len(tr.t.modules) {
		return nil
	}
	k := tr.t.modules[l.Module].kernels[l.Entry]
	if k == nil || len(k.params) != len(l.Args) {
		return nil
	}
	for i := range l.Args {
		if !tr.takes(&k.params[i], &l.Args[i], buffers) {
			return nil
		}
	}
	return k
}

// takes reports whether a parameter of a kernel accepts an argument of a plan that has this number of
// buffers.
func (tr *Trace) takes(p *param, a *ir.Arg, buffers int) bool {
	switch a.Kind {
	case ir.ArgScalar:
		return a.Scalar.Type.Size() == p.typ.Size()
	case ir.ArgParam:
		params := tr.t.graph.Params
		return a.Param >= 0 && int(a.Param) < len(params) && params[a.Param].Value.Type.Size() == p.typ.Size()
	}
	return a.Buffer >= 0 && int(a.Buffer) < buffers && p.pointer
}

// used returns the slices of a launch as its accesses in a plan show them: from the offset of the
// argument to the last byte used of its buffer. Plans that were read from text have no other record.
func used(g *ir.Graph, op *ir.Op) []ir.Range {
	list := make([]ir.Range, len(op.Launch.Args))
	for i, a := range op.Launch.Args {
		list[i] = wholeBuffer
		if a.Kind != ir.ArgBuffer {
			continue
		}
		hi := a.Offset
		for _, u := range op.Uses {
			if u.Buffer == a.Buffer {
				hi = max(hi, u.Hi)
			}
		}
		if a.Offset > 0 || hi < g.Buffers[a.Buffer].Size() {
			list[i] = ir.Range{Buffer: a.Buffer, Lo: a.Offset, Hi: hi}
		}
	}
	return list
}
