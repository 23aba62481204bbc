package access

import "github.com/reprise-gpu/reprise/internal/box"

// Region is a set of bytes relative to a pointer: those of Span that are also in Box, if Box
// is not empty.
//
//	the halo of a tile, of which the corners are not read
//
//	Box     ·█████·  ·█████·  ·█████·       has the corners, at its ends too
//	Span       ████████████████████         has the bytes between the rows
type Region struct {
	Span
	Box box.Box // has strides, or is empty
}

// Clip returns a box with all bytes of r in [lo, hi), which must be a range of at most 2^62
// bytes. The box is inside that range.
func (r Region) Clip(lo, hi int64) box.Box {
	if !r.Box.Empty() && !r.Span.Empty() {
		if b := r.Box.Clip(lo, hi); b.Empty() || !b.Contiguous() {
			return b
		}
	}
	return box.Of(max(lo, r.Lo), max(lo, r.Lo, min(hi, r.Hi)))
}

// BoxReach is what one launch may read and write through one pointer, with strides.
type BoxReach struct{ Read, Write Region }

// EvalBoxes is Eval with strides: column tiles of a matrix have no byte in common. The spans
// are those of Eval. It does not allocate. Where the kernel has no strides, its cost is that
// of Eval, otherwise about five times as much (BenchmarkEval).
func (fp *Footprint) EvalBoxes(l *Launch, out []BoxReach) {
	fp.compute(l)
	clear(out)
	for i := range fp.outs {
		o := &fp.outs[i]
		span := fp.span(o)
		if o.access&Read != 0 {
			out[o.row].Read.Span = out[o.row].Read.Union(span)
		}
		if o.access&Write != 0 {
			out[o.row].Write.Span = out[o.row].Write.Union(span)
		}
	}
	p := fp.strides.whole
	if l.box != nil {
		p = fp.strides.part
	}
	if p == nil {
		return
	}
	p.eval(fp)
	for row, found := range p.rows {
		if found {
			out[row].Read.Box = p.reach[row].read.box(out[row].Read.Span)
			out[row].Write.Box = p.reach[row].write.box(out[row].Write.Span)
		}
	}
}

// box returns a box with all bytes of a. It is empty if the box would have no strides, or
// more bytes than the span that has them too.
func (a strided) box(span Span) box.Box {
	if a.used == 0 {
		return box.Box{}
	}
	b := box.Box{Lo: a.lo, Shape: box.Shape{Run: 1}}
	var room [maxLevels]level
	list := a.list(room[:0])
	if list[0].step != 1 {
		list = atMost(len(b.Count), list)
	} else {
		list = atMost(len(b.Count)+1, list)
	}
	if len(list) > 0 && list[0].step == 1 {
		b.Run, list = list[0].n, list[1:]
	}
	for k, l := range list {
		b.Count[k], b.Stride[k] = l.n, l.step
	}
	if b.Contiguous() || b.Bytes() >= span.Hi-span.Lo {
		return box.Box{}
	}
	return b
}
