package tracer

import (
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// reacher computes which bytes of its arguments a launch of one kernel touches.
//
// The footprint of the kernel is a list of formulas over the launch shape and the scalar arguments. It is
// computed once. For each launch, begin takes the shape, set takes each argument, and end evaluates the
// formulas, with an upper bound of the bytes for each pointer in a parameter as the result:
//
//	kernel y[i] = x[i+k], 1 block of 256 threads, k = 2, 4-byte elements
//	x  read   [8, 1032)
//	y  write  [0, 1024)
type reacher struct {
	kernel    string // for errors
	file      string // of the module, for errors
	footprint *access.Footprint
	offsets   []int          // by parameter: its offset in the parameter block, in bytes
	rows      []int          // by parameter: its row of the footprint; -1 if it has several
	launch    access.Launch  // the launch being evaluated
	out       []access.Reach // by row of the footprint: the result
	addresses bool           // a buffer is passed for a parameter that the kernel uses as a number
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
	r.out = make([]access.Reach, len(r.footprint.Effects.Params))
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

// end computes the reach of the launch from the arguments that set has stored.
func (r *reacher) end() { r.footprint.Eval(&r.launch, r.out) }

// appendUses appends the accesses of the launch to the slice b, which is passed for parameter i. If the
// reach of the kernel is not bounded, the access covers all of b: the program promises, by passing the
// slice, that the kernel stays inside it.
func (r *reacher) appendUses(uses []ir.Access, i int, p *param, b Buffer) []ir.Access {
	if r.addresses || !p.ranged || r.rows[i] < 0 {
		return append(uses, ir.Access{Range: b.Range(), Mode: p.mode})
	}
	reach := r.out[r.rows[i]]
	read, write := b.part(reach.Read), b.part(reach.Write)
	switch {
	case p.mode == ir.Reduce:
		return appendUse(uses, ir.Range{Buffer: b.id, Lo: min(read.Lo, write.Lo), Hi: max(read.Hi, write.Hi)}, ir.Reduce)
	case read == write:
		return appendUse(uses, read, ir.ReadWrite)
	}
	return appendUse(appendUse(uses, read, ir.Read), write, ir.Write)
}

// appendUse appends an access unless its range is empty.
func appendUse(uses []ir.Access, r ir.Range, mode ir.Mode) []ir.Access {
	if r.Empty() {
		return uses
	}
	return append(uses, ir.Access{Range: r, Mode: mode})
}

// part returns the range of the allocation that a span covers. The span counts bytes from the first one
// of b and is cut off at the ends of b.
func (b Buffer) part(s access.Span) ir.Range {
	n := b.Bytes()
	lo, hi := min(max(s.Lo, 0), n), min(max(s.Hi, 0), n)
	if lo >= hi {
		return ir.Range{Buffer: b.id, Lo: b.lo, Hi: b.lo}
	}
	return ir.Range{Buffer: b.id, Lo: b.lo + lo, Hi: b.lo + hi}
}
