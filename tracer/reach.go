package tracer

import (
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// reacher finds which bytes of its arguments a launch touches.
type reacher struct {
	kernel    string
	file      string // of its module
	footprint *access.Footprint
	offsets   []int // by parameter, in the parameter block
	rows      []int // by parameter: its row of the footprint, negative when it is not the whole truth
	launch    access.Launch
	out       []access.Reach
	addresses bool // whether a number that may be an address is one
}

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

// begin readies r for the arguments of a launch.
func (r *reacher) begin(s *Shape) {
	r.launch.Grid = [3]uint32{s.Grid.X, s.Grid.Y, s.Grid.Z}
	r.launch.Block = [3]uint32{s.Block.X, s.Block.Y, s.Block.Z}
	r.addresses = false
}

// set takes the bits of argument i, which no replay changes.
func (r *reacher) set(i int, size int64, bits uint64) {
	lower.Put(r.launch.Params[r.offsets[i]:], size, bits)
	r.launch.Varies[i] = false
}

// end computes the reach of the launch.
func (r *reacher) end() { r.footprint.Eval(&r.launch, r.out) }

// appendUses appends what the launch does to the slice b, passed for parameter i.
// What the kernel reaches is found from its code; where that is not bounded, that it stays inside the slice is
// the program's promise, so the access is one to all of it.
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

func appendUse(uses []ir.Access, r ir.Range, mode ir.Mode) []ir.Access {
	if r.Empty() {
		return uses
	}
	return append(uses, ir.Access{Range: r, Mode: mode})
}

// part is the bytes of b that a span from its first byte covers.
func (b Buffer) part(s access.Span) ir.Range {
	n := b.Bytes()
	lo, hi := min(max(s.Lo, 0), n), min(max(s.Hi, 0), n)
	if lo >= hi {
		return ir.Range{Buffer: b.id, Lo: b.lo, Hi: b.lo}
	}
	return ir.Range{Buffer: b.id, Lo: b.lo + lo, Hi: b.lo + hi}
}
