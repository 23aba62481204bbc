package tracer

import (
	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// reacher computes which bytes of its arguments a launch of one kernel touches.
//
// The footprint of the kernel is a list of formulas over the launch shape and the scalar arguments. It is
// computed once. For each launch, begin takes the shape, set takes each argument, and hulls or boxes evaluates
// the formulas, with an upper bound of the bytes for each pointer in a parameter as the result:
//
//	kernel y[i] = x[i+k], 1 block of 256 threads, k = 2, 4-byte elements
//	x  read   [8, 1032)
//	y  write  [0, 1024)
//
// The boxes have strides where the kernel accesses tiles of matrices.
type reacher struct {
	kernel    string // for errors
	file      string // of the module, for errors
	footprint *access.Footprint
	offsets   []int             // by parameter: its offset in the parameter block, in bytes
	rows      []int             // by parameter: its row of the footprint; -1 if it has several
	launch    access.Launch     // the launch being evaluated
	out       []access.Reach    // by row of the footprint: the result of hulls
	strided   []access.BoxReach // by row of the footprint: the result of boxes
	addresses bool              // a buffer is passed for a parameter that the kernel uses as a number
}

// newReacher analyzes kernel f of module m.
func newReacher(m *ptx.Module, f *ptx.Func) *reacher {
	r := &reacher{kernel: f.Name, file: m.File, footprint: access.NewFootprint(m, f), rows: make([]int, len(f.Params))}
	known := make([]int, len(f.Params))
	for i, p := range r.footprint.Effects.Params {
		if known[p.Param]++; p.Field == 0 && known[p.Param] == 1 {
			r.rows[p.Param] = i
		} else {
			r.rows[p.Param] = -1
		}
	}
	for _, v := range f.Params {
		r.offsets = append(r.offsets, v.Offset)
	}
	r.out, r.strided = make([]access.Reach, len(known)), make([]access.BoxReach, len(known))
	r.launch.Params, r.launch.Varies = make([]byte, f.ParamBytes()), make([]bool, len(f.Params))
	return r
}

// begin starts the evaluation of a launch with shape s.
func (r *reacher) begin(s *Shape) {
	r.launch.Grid = [3]uint32{s.Grid.X, s.Grid.Y, s.Grid.Z}
	r.launch.Block = [3]uint32{s.Block.X, s.Block.Y, s.Block.Z}
	r.addresses = false
}

// set sets argument i, a constant of size bytes.
func (r *reacher) set(i int, size int64, bits uint64) {
	lower.Put(r.launch.Params[r.offsets[i]:], size, bits)
	r.launch.Varies[i] = false
}

// hulls computes the reach of the launch from the arguments that set has stored.
func (r *reacher) hulls() { r.footprint.Eval(&r.launch, r.out) }

// boxes is hulls with strides.
func (r *reacher) boxes() { r.footprint.EvalBoxes(&r.launch, r.strided) }

// appendUses appends the accesses of the launch to the slice b, which is passed for parameter i, as boxes has
// computed them, inside bytes [lo, hi) of b. If the reach of the kernel is not bounded, the access covers all of these: the
// program promises, by passing the slice or a PerBlock, that the kernel stays inside them. Shapes are numbered in the given table.
func (r *reacher) appendUses(uses []ir.Access, i int, p *param, b Buffer, lo, hi int64, shapes *box.Table) []ir.Access {
	if r.addresses || !p.ranged || r.rows[i] < 0 {
		return b.appendUse(uses, box.Of(lo, hi), p.mode, shapes)
	}
	reach := r.strided[r.rows[i]]
	read, write := reach.Read.Clip(lo, hi), reach.Write.Clip(lo, hi)
	switch {
	case p.mode == ir.Reduce && read != write:
		return b.appendUse(uses, hull(read, write), ir.Reduce, shapes)
	case p.mode == ir.Reduce:
		return b.appendUse(uses, read, ir.Reduce, shapes)
	case read == write:
		return b.appendUse(uses, read, ir.ReadWrite, shapes)
	}
	return b.appendUse(b.appendUse(uses, read, ir.Read, shapes), write, ir.Write, shapes)
}

// hull returns the smallest range with both boxes.
func hull(x, y box.Box) box.Box {
	switch {
	case x.Empty():
		return y
	case y.Empty():
		return x
	}
	return box.Of(min(x.Lo, y.Lo), max(x.Hi(), y.Hi()))
}

// appendUse appends an access to a box, which counts bytes from the first one of b, unless it is empty.
func (b Buffer) appendUse(uses []ir.Access, x box.Box, mode ir.Mode, shapes *box.Table) []ir.Access {
	if x.Empty() {
		return uses
	}
	r := ir.Range{Buffer: b.id, Lo: b.lo + x.Lo, Hi: b.lo + x.Hi()}
	return append(uses, ir.Access{Range: r, Mode: mode, Shape: ir.ShapeID(shapes.ID(x.Shape))})
}
