package distribute

import (
	"slices"
	"sort"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// Frame is an order of the bytes of a buffer in which the bytes that devices exchange together are consecutive, although they
// have strides in memory. A buffer with a frame is a matrix of rows of Pitch bytes, cut into cells:
//
//	          Cols[0] Cols[1] Pitch
//	Rows[0]   │ cell 0 │ cell 1 │        memory: row after row
//	Rows[1]   │ cell 2 │ cell 3 │        frame:  cell after cell
//
// Positions in this order are called places. Ranges of places in a plan begin and end at borders of cells. A copy of a range to
// staging memory has its boxes one after the other, each row after row, so that the same range must be copied from there. A nil
// frame is the order of memory.
type Frame struct {
	Pitch      int64
	Rows, Cols []int64 // the borders of the cells, in rows and in bytes of a row: ascending from 0 to the number of rows, and to Pitch
}

// newFrame returns the frame of a buffer of some bytes whose rows have pitch bytes. None of the boxes, each of which is
// contiguous or has the one stride pitch, cuts a cell.
func newFrame(pitch, size int64, boxes []box.Box) *Frame {
	f := &Frame{Pitch: pitch, Rows: []int64{0, (size + pitch - 1) / pitch}, Cols: []int64{0, pitch}}
	for _, b := range boxes {
		for _, part := range f.rectangles(b) {
			f.Rows = append(f.Rows, part.top, part.bottom)
			f.Cols = append(f.Cols, part.left, part.right)
		}
	}
	slices.Sort(f.Rows)
	slices.Sort(f.Cols)
	f.Rows, f.Cols = slices.Compact(f.Rows), slices.Compact(f.Cols)
	return f
}

// rectangle is the bytes [left, right) of the rows [top, bottom).
type rectangle struct{ top, bottom, left, right int64 }

// rectangles returns the parts of a box: one if it has a stride, and up to three rectangles of consecutive bytes otherwise.
func (f *Frame) rectangles(b box.Box) (list []rectangle) {
	row, col := b.Lo/f.Pitch, b.Lo%f.Pitch
	if !b.Contiguous() {
		return []rectangle{{row, row + b.Count[0], col, col + b.Run}}
	}
	left := b.Run
	if col > 0 && left > 0 {
		n := min(left, f.Pitch-col)
		list = append(list, rectangle{row, row + 1, col, col + n})
		row, left = row+1, left-n
	}
	if n := left / f.Pitch; n > 0 {
		list = append(list, rectangle{row, row + n, 0, f.Pitch})
		row, left = row+n, left%f.Pitch
	}
	if left > 0 {
		list = append(list, rectangle{row, row + 1, 0, left})
	}
	return list
}

// Places returns the ranges of places of a box, ascending, which do not touch.
func (f *Frame) Places(b box.Box) (list []Span) {
	if f == nil {
		return []Span{{b.Lo, b.Hi()}}
	}
	for _, r := range f.rectangles(b) {
		for i := sort.Search(len(f.Rows), func(i int) bool { return f.Rows[i] >= r.top }); f.Rows[i] < r.bottom; i++ {
			at, height := f.Rows[i]*f.Pitch, f.Rows[i+1]-f.Rows[i]
			list = appendSpan(list, Span{at + r.left*height, at + r.right*height})
		}
	}
	return list
}

// appendSpan appends a span, or lengthens the last one if it ends where the span begins.
func appendSpan(list []Span, s Span) []Span {
	if n := len(list) - 1; n >= 0 && list[n].Hi == s.Lo {
		list[n].Hi = s.Hi
		return list
	}
	return append(list, s)
}

// Boxes returns the bytes of a range of places between borders of cells.
func (f *Frame) Boxes(lo, hi int64) (list []box.Box) {
	if f == nil {
		return []box.Box{box.Of(lo, hi)}
	}
	for lo < hi {
		i := sort.Search(len(f.Rows), func(i int) bool { return f.Rows[i]*f.Pitch > lo }) - 1
		height := f.Rows[i+1] - f.Rows[i]
		end := min(hi, f.Rows[i+1]*f.Pitch)
		left, right := (lo-f.Rows[i]*f.Pitch)/height, (end-f.Rows[i]*f.Pitch)/height
		list = appendBox(list, f.box(rectangle{f.Rows[i], f.Rows[i+1], left, right}))
		lo = end
	}
	return list
}

// box returns the bytes of a rectangle.
func (f *Frame) box(r rectangle) box.Box {
	at, height, width := r.top*f.Pitch+r.left, r.bottom-r.top, r.right-r.left
	if height == 1 || width == f.Pitch {
		return box.Of(at, at+height*width)
	}
	return box.Box{Lo: at, Shape: box.Shape{Run: width, Count: [2]int64{height}, Stride: [2]int64{f.Pitch}}}
}

// appendBox appends a box, or lengthens the last one if both are contiguous and touch.
func appendBox(list []box.Box, b box.Box) []box.Box {
	if n := len(list) - 1; n >= 0 && b.Contiguous() && list[n].Contiguous() && list[n].Hi() == b.Lo {
		list[n].Run += b.Run
		return list
	}
	return append(list, b)
}

// frames returns the frames of the buffers that some chunk accesses with a stride, by buffer, or nil if there are none.
func (p *Plan) frames() []*Frame {
	list := make([]*Frame, len(p.Graph.Buffers))
	boxes := map[ir.BufferID][]box.Box{}
	pitch := map[ir.BufferID]int64{}
	for v := range p.Decisions {
		for i := range p.Decisions[v].Chunks {
			for _, a := range p.Decisions[v].Chunks[i].Accesses {
				b := p.Box(a)
				boxes[a.Buffer] = append(boxes[a.Buffer], b)
				if !b.Contiguous() {
					pitch[a.Buffer] = b.Stride[0]
				}
			}
		}
	}
	if len(pitch) == 0 {
		return nil
	}
	for b, n := range pitch {
		list[b] = newFrame(n, p.Graph.Buffers[b].Size(), boxes[b])
	}
	return list
}

// Box returns the bytes of an access of a chunk. The range of the access is their hull.
func (p *Plan) Box(a ir.Access) box.Box {
	if a.Shape == 0 {
		return box.Of(a.Lo, a.Hi)
	}
	return box.Box{Lo: a.Lo, Shape: p.Shapes[a.Shape-1]}
}

// Frame returns the frame of a buffer, nil for none.
func (p *Plan) Frame(b ir.BufferID) *Frame {
	if p.Frames == nil {
		return nil
	}
	return p.Frames[b]
}

// places returns the ranges of places of an access.
func (p *Plan) places(a ir.Access) []Span { return p.Frame(a.Buffer).Places(p.Box(a)) }

// places returns the number of places of a buffer.
func (f *Frame) places(size int64) int64 {
	if f == nil {
		return size
	}
	return f.Rows[len(f.Rows)-1] * f.Pitch
}

// Held returns who holds which bytes of the buffers after a round, by buffer and in the order of memory.
func (p *Plan) Held(round int) [][]Held {
	all := slices.Clone(p.Rounds[round].Fresh)
	for b := range all {
		if f := p.Frame(ir.BufferID(b)); f != nil {
			all[b] = f.inMemory(all[b], p.Graph.Buffers[b].Size())
		}
	}
	return all
}

// inMemory returns the pieces of a list in the order of memory, without bytes behind the end of the buffer.
func (f *Frame) inMemory(list []Held, size int64) (all []Held) {
	for _, h := range list {
		for _, b := range f.Boxes(h.Lo, h.Hi) {
			b.Runs(func(lo, hi int64) bool {
				if h.Lo, h.Hi = lo, min(hi, size); h.Lo < h.Hi {
					all = append(all, h)
				}
				return true
			})
		}
	}
	slices.SortFunc(all, func(a, b Held) int { return int(a.Lo - b.Lo) })
	return all
}
