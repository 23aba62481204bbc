package tracer

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/ptx"
)

// reacher finds which bytes of its arguments a launch touches.
type reacher struct {
	kernel    string
	file      string // of its module
	footprint *ptx.Footprint
	offsets   []int // by parameter, in the parameter block
	rows      []int // by parameter: its row of the footprint, negative when it is not the whole truth
	launch    ptx.Launch
	out       []ptx.Reach
	addresses bool // whether a number that may be an address is one
}

func newReacher(m *ptx.Module, f *ptx.Func) *reacher {
	r := &reacher{kernel: f.Name, file: m.File, footprint: ptx.NewFootprint(m, f), rows: make([]int, len(f.Params))}
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
	r.out = make([]ptx.Reach, len(r.footprint.Effects.Params))
	r.launch.Params, r.launch.Varies = make([]byte, f.ParamBytes()), make([]bool, len(f.Params))
	return r
}

// begin readies r for the arguments of a launch.
func (r *reacher) begin(s *Shape) {
	r.launch.Grid = [3]uint32{s.Grid.X, s.Grid.Y, s.Grid.Z}
	r.launch.Block = [3]uint32{s.Block.X, s.Block.Y, s.Block.Z}
	r.addresses = false
}

// set takes the bits of argument i, which varies if a replay may change it.
func (r *reacher) set(i int, size int64, bits uint64, varies bool) {
	at := r.launch.Params[r.offsets[i]:]
	switch size {
	case 8:
		binary.LittleEndian.PutUint64(at, bits)
	case 4:
		binary.LittleEndian.PutUint32(at, uint32(bits))
	default:
		for k := range size {
			at[k] = byte(bits >> (8 * k))
		}
	}
	r.launch.Varies[i] = varies
}

// end computes the reach of the launch.
func (r *reacher) end() { r.footprint.Eval(&r.launch, r.out) }

// SliceError says that a launch certainly touches bytes outside a slice that it is passed, so that the slice promises too much.
type SliceError struct {
	Kernel, Parameter string
	Buffer            string   // that the slice is of
	Slice             ir.Range // that is passed
	Reach             ir.Range // of the kernel in this launch, from the pointer that it is passed; of no length where only Touched is known
	Touched           ir.Range // by a thread, outside the slice
	Write             bool     // whether it writes them
	Block, Thread     [3]uint32
	At                string // "kernel.ptx:12", the instruction
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

// stays returns a SliceError if the launch certainly leaves the slice b, passed for parameter i. A whole buffer promises nothing. Where
// what is reached is an upper bound, the slice decides.
func (r *reacher) stays(i int, p *param, b Buffer) error {
	if r.addresses || !p.ranged || r.rows[i] < 0 || b.whole() {
		return nil
	}
	within, reach := ptx.Span{Hi: b.Bytes()}, r.out[r.rows[i]]
	if within.Holds(reach.Read) && within.Holds(reach.Write) {
		return nil
	}
	t, ok := r.footprint.Outside(&r.launch, r.rows[i], within)
	if !ok {
		return nil
	}
	bytes := func(s ptx.Span) ir.Range { return ir.Range{Buffer: b.id, Lo: b.lo + s.Lo, Hi: b.lo + s.Hi} }
	e := &SliceError{
		Kernel: r.kernel, Parameter: p.name, Buffer: b.t.graph.Buffers[b.id].Name, Slice: b.Range(), Touched: bytes(t.Span),
		Write: t.Access&ptx.AccessWrite != 0, Block: t.Block, Thread: t.Thread, At: fmt.Sprintf("%s:%d", r.file, t.Pos.Line),
	}
	if s := reach.Read.Union(reach.Write); s.Lo > math.MinInt32 && s.Hi < math.MaxInt64-b.lo {
		e.Reach = bytes(s)
	}
	return e
}

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
func (b Buffer) part(s ptx.Span) ir.Range {
	n := b.Bytes()
	lo, hi := min(max(s.Lo, 0), n), min(max(s.Hi, 0), n)
	if lo >= hi {
		return ir.Range{Buffer: b.id, Lo: b.lo, Hi: b.lo}
	}
	return ir.Range{Buffer: b.id, Lo: b.lo + lo, Hi: b.lo + hi}
}
