package distribute

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/ir"
)

// reacher computes the bytes that parts of the launches of a graph access.
type reacher struct {
	g       *ir.Graph
	modules map[ir.ModuleID]*ptx.Module // nil for a module without valid source
	kernels map[kernelKey]*kernel
	pitch   map[ir.BufferID]int64 // of buffers that are accessed with strides: the distance of two rows
	shapes  *box.Table
}

type kernelKey struct {
	module ir.ModuleID
	entry  string
}

// kernel is a kernel of the graph. reason states why its launches are not cut, "" if they can be.
type kernel struct {
	fn        *ptx.Func
	footprint *access.Footprint
	reason    string
	atomic    bool // updates memory by atomic operations, in an order that may differ from run to run
	out       []access.BoxReach
}

func newReacher(g *ir.Graph, shapes *box.Table) *reacher {
	return &reacher{g, map[ir.ModuleID]*ptx.Module{}, map[kernelKey]*kernel{}, map[ir.BufferID]int64{}, shapes}
}

func (r *reacher) module(id ir.ModuleID) *ptx.Module {
	m, ok := r.modules[id]
	if !ok {
		m, _ = ptx.ParseShared(r.g.Modules[id].File, r.g.Modules[id].Source)
		r.modules[id] = m
	}
	return m
}

func (r *reacher) kernel(l *ir.Launch) *kernel {
	key := kernelKey{l.Module, l.Entry}
	k := r.kernels[key]
	if k == nil {
		k = r.analyse(l)
		r.kernels[key] = k
	}
	return k
}

// opaque reports whether the kernel of a launch may access any memory.
func (r *reacher) opaque(l *ir.Launch) bool {
	f := r.kernel(l).footprint
	return f == nil || f.Effects.Opaque != nil
}

func (r *reacher) analyse(l *ir.Launch) *kernel {
	m := r.module(l.Module)
	if m == nil || m.Func(l.Entry) == nil {
		return &kernel{reason: "the PTX of the kernel is not known", atomic: true}
	}
	k := &kernel{fn: m.Func(l.Entry), atomic: atomic(m, m.Func(l.Entry))}
	k.footprint = access.NewFootprint(m, k.fn)
	k.out = make([]access.BoxReach, len(k.footprint.Effects.Params))
	if len(k.fn.Params) != len(l.Args) {
		k.reason = fmt.Sprintf("the kernel has %d parameters, and the launch %d arguments", len(k.fn.Params), len(l.Args))
		return k
	}
	k.reason = rangeable(m, l)
	return k
}

// atomic reports whether a kernel, or a function of its module, which it may call, has atomic operations on global memory.
func atomic(m *ptx.Module, kernel *ptx.Func) bool {
	return slices.ContainsFunc(m.Funcs, func(f *ptx.Func) bool {
		return (f == kernel || !f.Entry) && slices.ContainsFunc(f.Body, func(i ptx.Inst) bool {
			return (i.Name == "atom" || i.Name == "red") && !slices.Contains(i.Suffix, "shared")
		})
	})
}

// rangeable returns the reason why a kernel cannot run a range of its blocks, or "".
func rangeable(m *ptx.Module, l *ir.Launch) string {
	res, err := rewrite.Range(m, l.Entry, dimensions(l.Grid))
	refusal := (*rewrite.Refusal)(nil)
	switch {
	case errors.As(err, &refusal):
		return refusal.Reason
	case err != nil:
		return err.Error()
	}
	for _, v := range res.Variables {
		if v.Written {
			return fmt.Sprintf("the kernel writes variable %s of its module", v.Original)
		}
	}
	return ""
}

// dimensions returns the number of dimensions of a grid.
func dimensions(grid ir.Dim3) int {
	switch {
	case grid.Z > 1:
		return 3
	case grid.Y > 1:
		return 2
	}
	return 1
}

// bufferStride is the distance of the made-up addresses of buffers. The analysis does not allow for an access that begins
// in one buffer and ends in another.
const bufferStride = 1 << 40

// values resolves the arguments of launches: each buffer has an address of its own.
type values struct{ g *ir.Graph }

func (values) Address(b ir.BufferID) device.Ptr { return device.Ptr(b+1) * bufferStride }
func (v values) Value(p ir.ParamID) ir.Scalar   { return v.g.Params[p].Value }

// launch is a launch of the graph, ready to evaluate parts of it.
type launch struct {
	*kernel
	reach  *reacher
	op     *ir.Op
	whole  access.Launch
	reason string // why it is not cut, "" if it can be

	private []Private
}

// launch prepares the launch op.
func (r *reacher) launch(op *ir.Op) *launch {
	l := op.Launch
	k := r.kernel(l)
	x := &launch{kernel: k, reach: r, op: op, reason: k.reason}
	if x.reason != "" {
		return x
	}
	x.whole = access.Launch{
		Grid: [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, Block: [3]uint32{l.Block.X, l.Block.Y, l.Block.Z},
		Params: lower.Params(l.Args, values{r.g}), Varies: make([]bool, len(l.Args)),
	}
	for i := range l.Args {
		x.whole.Varies[i] = l.Args[i].Kind == ir.ArgParam
	}
	x.reason = x.unbounded()
	return x
}

// unbounded returns the reason why the accesses of parts of a launch are not known, or "".
func (x *launch) unbounded() string {
	e := x.footprint.Effects
	if e.Opaque != nil {
		return "the kernel may access memory that no argument points to (" + e.Opaque.Msg + ")"
	}
	for _, s := range e.Symbols {
		if s.Access != access.None && s.Access != access.Read {
			return "the kernel writes variable " + s.Name + " of its module"
		}
	}
	for _, p := range e.Params {
		arg := &x.op.Launch.Args[p.Param]
		switch {
		case p.Field != 0:
			return "argument " + p.Name + " is a structure"
		case p.Access == access.None && p.Offset == access.None:
		case p.Offset != access.None && arg.Kind == ir.ArgBuffer:
			return "the kernel computes with the address in " + p.Name + " as a number"
		case p.Access != access.None && arg.Kind != ir.ArgBuffer:
			return "the kernel follows " + p.Name + ", which is a number and no buffer"
		}
	}
	return ""
}

// accesses returns what a part of the launch accesses on a device, by buffer, then offset. It is an upper bound, inside what
// the trace has recorded for the whole launch.
func (x *launch) accesses(t Tile, device int32) []ir.Access {
	part := x.whole.Within(t.First, t.Count)
	x.footprint.EvalBoxes(&part, x.out)
	var list []ir.Access
	for row, p := range x.footprint.Effects.Params {
		arg := &x.op.Launch.Args[p.Param]
		if arg.Kind != ir.ArgBuffer || p.Access == access.None {
			continue
		}
		if i := slices.IndexFunc(x.private, func(q Private) bool { return q.Arg == p.Param }); i >= 0 {
			list = x.copies(list, &x.private[i], device)
			continue
		}
		reach := x.declared(p.Param, x.out[row], t)
		list = x.add(list, arg, reach.Read, ir.Read)
		list = x.add(list, arg, reach.Write, ir.Write)
	}
	return normal(list)
}

// declared returns what blocks reach through an argument, without bytes that the launch excludes by a declaration.
func (x *launch) declared(arg int, reach access.BoxReach, t Tile) access.BoxReach {
	m := blockmap.Find(x.op.Launch.Maps, arg)
	if m == nil {
		return reach
	}
	axis, _, _ := blockmap.Outermost(x.op.Launch.Grid)
	lo, hi := blockmap.Bytes(m, int64(t.First[axis]), int64(t.First[axis])+int64(t.Count[axis]))
	within := func(r access.Region) access.Region {
		r.Lo, r.Hi = max(r.Lo, lo), min(r.Hi, hi)
		if !r.Box.Empty() {
			r.Box = r.Box.Clip(lo, hi)
		}
		return r
	}
	return access.BoxReach{Read: within(reach.Read), Write: within(reach.Write)}
}

// declaredNames lists the buffers of a launch with declared accesses, "" if there are none.
func (x *launch) declaredNames() string {
	var names []string
	for _, m := range x.op.Launch.Maps {
		names = append(names, "@"+x.reach.g.Buffers[x.op.Launch.Args[m.Arg].Buffer].Name)
	}
	return strings.Join(names, " and ")
}

// copies appends the copy of a private argument on a device.
func (x *launch) copies(list []ir.Access, p *Private, device int32) []ir.Access {
	if p.Copies < 0 {
		return list
	}
	r := ir.Range{Buffer: p.Copies, Lo: int64(device) * p.Stride, Hi: int64(device+1) * p.Stride}
	return append(list, ir.Access{Range: r, Mode: ir.ReadWrite})
}

// add appends the bytes of a span relative to an argument, as far as the trace has recorded such an access.
func (x *launch) add(list []ir.Access, arg *ir.Arg, s access.Region, mode ir.Mode) []ir.Access {
	if s.Empty() {
		return list
	}
	for _, u := range x.op.Uses {
		if u.Buffer != arg.Buffer || mode == ir.Read && !u.Mode.Reads() || mode == ir.Write && !u.Mode.Writes() {
			continue
		}
		r := ir.Range{Buffer: u.Buffer, Lo: max(u.Lo, saturated(arg.Offset, s.Lo)), Hi: min(u.Hi, saturated(arg.Offset, s.Hi))}
		if r.Empty() {
			continue
		}
		if u.Mode == ir.Reduce {
			list = append(list, ir.Access{Range: r, Mode: ir.Reduce})
			continue
		}
		list = append(list, x.strided(r, s.Clip(-arg.Offset, x.reach.g.Buffers[r.Buffer].Size()-arg.Offset), arg.Offset, mode))
	}
	return list
}

// strided returns the access to the bytes of a range r that are also in a box behind an offset. It is all of the box, which may
// have corners outside of r, if the box has a single stride, that of all accesses to
// the buffer, and at most three quarters of the bytes of its hull: else kernels that collect its rows would not pay. Otherwise it
// is all of r.
func (x *launch) strided(r ir.Range, b box.Box, offset int64, mode ir.Mode) ir.Access {
	plain := ir.Access{Range: r, Mode: mode}
	b.Lo += offset
	pitch := b.Stride[0]
	if b.Empty() || b.Contiguous() || b.Count[1] > 0 || 4*b.Bytes() > 3*b.Extent() || b.Lo%pitch+b.Run > pitch {
		return plain
	}
	if known, is := x.reach.pitch[r.Buffer]; is && known != pitch {
		return plain
	}
	x.reach.pitch[r.Buffer] = pitch
	return ir.Access{Range: ir.Range{Buffer: r.Buffer, Lo: b.Lo, Hi: b.Hi()}, Mode: mode, Shape: ir.ShapeID(x.reach.shapes.ID(b.Shape))}
}

// saturated returns a+b, where a is not negative, or the largest number if that overflows.
func saturated(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// normal sorts accesses and joins contiguous ones of one mode that overlap or touch.
func normal(list []ir.Access) []ir.Access {
	slices.SortFunc(list, func(a, b ir.Access) int {
		return cmp.Or(cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Lo, b.Lo))
	})
	kept := list[:0]
	for _, a := range list {
		if n := len(kept) - 1; n >= 0 && kept[n].Buffer == a.Buffer && kept[n].Mode == a.Mode && a.Shape == 0 && kept[n].Shape == 0 && a.Lo <= kept[n].Hi {
			kept[n].Hi = max(kept[n].Hi, a.Hi)
			continue
		}
		kept = append(kept, a)
	}
	return kept
}
