package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// grids rearranges the bytes of buffers of which some accesses have strides, so that such an access consists of few
// spans. Analyses of spans then apply to it unchanged.
//
// The stride of the accesses divides a buffer into rows. The ends of the accesses divide the rows into cells, and the
// bytes are numbered cell by cell instead of row by row. A column tile is one span of cell numbers, however many rows
// it has:
//
//	bytes, two tiles of 3 and 5 columns      numbers of rows in cells
//	 0  1  2 │ 3  4  5  6  7                  0 │  4
//	 8  9 10 │11 12 13 14 15                  1 │  5       the tile on the left is [0, 4),
//	16 17 18 │19 20 21 22 23                  2 │  6       that on the right [4, 8),
//	24 25 26 │27 28 29 30 31                  3 │  7       the upper half [0, 2) and [4, 6)
//
// With two strides, of which one divides the other, cells are divided in the same way in two digits. Which cell has
// which bytes follows from all accesses of the graph. Other strides are split into their elements, if there are few,
// and else replaced by the whole range of the access.
type grids []*grid // by buffer; nil for a buffer without strides

// grid is the rearranged buffer. An offset x of the buffer is the number x+bias, with the digits
// (x+bias)%units[1], (x+bias)%units[2]/units[1] and so on.
type grid struct {
	size  int64   // of the buffer, in bytes
	bias  int64   // makes an access with strides begin at a multiple of the last unit
	units []int64 // 1, then strides, each a multiple of the one before
	last  int64   // number of values of the last digit
	cells [][]int64
	spans map[boxKey]placed
}

// boxKey identifies a set of bytes of a buffer.
type boxKey struct {
	lo, hi int64
	shape  ir.ShapeID
}

// placed is the spans of a set of bytes in a grid. If they are not exact, they contain more bytes.
type placed struct {
	spans []span
	exact bool
}

// newGrids returns the grids of g. They are nil if no access of g has strides.
func newGrids(g *ir.Graph) grids {
	if len(g.Shapes) == 0 {
		return nil
	}
	all := make(grids, len(g.Buffers))
	eachAccess(g, func(a ir.Access) {
		if a.Shape != 0 && all[a.Buffer] == nil {
			all[a.Buffer] = &grid{size: g.Buffers[a.Buffer].Size(), spans: map[boxKey]placed{}}
		}
	})
	boxes := make([][]boxKey, len(all)) // by buffer, in the order of first use
	eachAccess(g, func(a ir.Access) {
		key := boxKey{a.Lo, a.Hi, a.Shape}
		if t := all[a.Buffer]; t != nil && !a.Empty() {
			if _, seen := t.spans[key]; !seen {
				t.spans[key] = placed{}
				boxes[a.Buffer] = append(boxes[a.Buffer], key)
			}
		}
	})
	for b, t := range all {
		if t != nil {
			t.arrange(g, boxes[b])
		}
	}
	return all
}

// eachAccess calls one with the accesses of all operations.
func eachAccess(g *ir.Graph, one func(ir.Access)) {
	var scratch [2]ir.Access
	for v := range g.Ops {
		for _, a := range g.Ops[v].Accesses(&scratch) {
			one(a)
		}
	}
}

// of returns the spans of an access, which is not empty, in its buffer or in the grid of the buffer. one is memory for
// a single span.
func (t grids) of(a ir.Access, one *[1]span) placed {
	if t == nil || t[a.Buffer] == nil {
		one[0] = span{a.Lo, a.Hi}
		return placed{one[:], true}
	}
	return t[a.Buffer].spans[boxKey{a.Lo, a.Hi, a.Shape}]
}

// whole returns the span of all bytes of a buffer.
func (t grids) whole(g *ir.Graph, b ir.BufferID) span {
	if t == nil || t[b] == nil {
		return span{0, g.Buffers[b].Size()}
	}
	return span{0, t[b].count(0) * t[b].last}
}

// remove removes the bytes of an access, which is not empty, from the sets of the buffers. If the grid has only a
// superset of them, it removes none.
func (t grids) remove(a ir.Access, sets []spans) {
	var one [1]span
	placed := t.of(a, &one)
	for _, s := range placed.spans {
		if placed.exact {
			sets[a.Buffer].remove(s)
		}
	}
}

// maxCells bounds the number of cells of a grid of two strides.
const maxCells = 1 << 14

// arrange computes the grid of a buffer from its boxes.
func (t *grid) arrange(g *ir.Graph, boxes []boxKey) {
	chosen := unitsOf(g, boxes)
	for {
		t.units = slices.Insert(slices.Sorted(slices.Values(chosen)), 0, 1)
		t.cut(g, boxes)
		if len(chosen) == 1 || t.count(0) <= maxCells {
			return
		}
		chosen = chosen[:1]
	}
}

// unitsOf returns one or two strides of the boxes, the most frequent first. One of them divides the other.
func unitsOf(g *ir.Graph, boxes []boxKey) []int64 {
	uses := map[int64]int{}
	for _, b := range boxes {
		if b.shape != 0 {
			s := &g.Shapes[b.shape-1]
			uses[s.Stride[0]]++
			uses[s.Stride[1]]++
		}
	}
	delete(uses, 0)
	var strides []int64
	for d := range uses {
		strides = append(strides, d)
	}
	slices.SortFunc(strides, func(a, b int64) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
	for _, d := range strides[1:] {
		if d%strides[0] == 0 || strides[0]%d == 0 {
			return []int64{strides[0], d}
		}
	}
	return strides[:1]
}

// cut divides the digits below the last at the ends of all boxes, and computes their spans.
func (t *grid) cut(g *ir.Graph, boxes []boxKey) {
	first, top := int64(-1), len(t.units)-1
	for _, b := range boxes {
		if b.shape != 0 && (first < 0 || b.lo < first) {
			first = b.lo
		}
	}
	unit := t.units[top]
	t.bias = (unit - first%unit) % unit
	t.last = (t.bias + t.size + unit - 1) / unit
	t.cells = make([][]int64, top)
	for d := range top {
		t.cells[d] = append(t.cells[d], 0, t.units[d+1]/t.units[d])
	}
	split := make([]splitter, len(boxes))
	for i, b := range boxes {
		split[i] = t.split(g, b)
		for _, p := range split[i].tiles {
			for d := range top {
				t.cells[d] = append(t.cells[d], p[d].lo, p[d].hi)
			}
		}
	}
	for d := range top {
		slices.Sort(t.cells[d])
		t.cells[d] = slices.Compact(t.cells[d])
	}
	for i, b := range boxes {
		out := placed{exact: split[i].exact}
		for _, p := range split[i].tiles {
			out.spans = t.place(out.spans, &p)
		}
		t.spans[b] = out
	}
}

// count returns the number of cells of the digits from d on.
func (t *grid) count(d int) int64 {
	n := int64(1)
	for _, cuts := range t.cells[d:] {
		n *= int64(len(cuts) - 1)
	}
	return n
}

// place appends the spans of a tile.
func (t *grid) place(list []span, p *tile) []span {
	top := len(t.cells)
	spans, room := []span{p[top]}, t.last
	for d := top - 1; d >= 0; d-- {
		lo, _ := slices.BinarySearch(t.cells[d], p[d].lo)
		hi, _ := slices.BinarySearch(t.cells[d], p[d].hi)
		spans = repeated(spans, room, int64(lo), int64(hi))
		room *= int64(len(t.cells[d]) - 1)
	}
	return append(list, spans...)
}

// repeated returns spans in [0, room) once for each cell of [lo, hi), each of which has that room.
func repeated(spans []span, room, lo, hi int64) []span {
	if len(spans) == 1 && spans[0] == (span{0, room}) {
		return []span{{lo * room, hi * room}}
	}
	all := make([]span, 0, int64(len(spans))*(hi-lo))
	for c := lo; c < hi; c++ {
		for _, s := range spans {
			all = append(all, span{c*room + s.lo, c*room + s.hi})
		}
	}
	return all
}

// hull returns the smallest range of bytes of the buffer that holds a span of the grid. For numbers before or behind
// those of the buffer, it is the first or the last byte: accesses have these numbers only together with the byte.
func (t *grid) hull(s span) span {
	var p tile
	for d := range t.cells {
		room := t.count(d+1) * t.last
		first, end := s.lo/room, (s.hi-1)/room
		p[d] = span{t.cells[d][first], t.cells[d][end+1]}
		s = span{s.lo % room, (s.hi-1)%room + 1}
		if first != end { // several cells, with all values of the digits behind
			s = span{0, room}
		}
	}
	p[len(t.cells)] = s
	lo, hi := int64(0), int64(0)
	for d, unit := range t.units {
		lo += p[d].lo * unit
		hi += (p[d].hi - 1) * unit
	}
	lo = min(max(0, lo-t.bias), t.size-1)
	return span{lo, max(lo+1, min(t.size, hi+1-t.bias))}
}

// maxDigits is the largest number of digits: two strides and the bytes.
const maxDigits = 3

// tile is a set of bytes as an interval of each digit.
type tile [maxDigits]span

// splitter divides a box into tiles. If they are not exact, they contain more bytes.
type splitter struct {
	units []int64
	tiles []tile
	exact bool
}

// split divides a box of a buffer. A range that begins or ends with the buffer begins or ends with the grid, which has
// up to a unit of numbers before and after the buffer: it is then fewer tiles.
func (t *grid) split(g *ir.Graph, key boxKey) splitter {
	s := splitter{units: t.units, exact: true}
	top := len(t.units) - 1
	if key.shape != 0 {
		s.box(key.lo+t.bias, g.Shapes[key.shape-1], top, tile{})
		return s
	}
	lo, hi := key.lo+t.bias, key.hi+t.bias
	if key.lo == 0 {
		lo = 0
	}
	if key.hi == t.size {
		hi = t.last * t.units[top]
	}
	s.run(lo, hi, top, tile{})
	return s
}

// run adds the bytes [lo, hi) of one value of the digits above digit d, which are set in p: a part of a unit, whole
// units, and again a part.
func (s *splitter) run(lo, hi int64, d int, p tile) {
	if d == 0 {
		p[0] = span{lo, hi}
		s.tiles = append(s.tiles, p)
		return
	}
	unit := s.units[d]
	if lo/unit == (hi-1)/unit {
		p[d] = span{lo / unit, lo/unit + 1}
		s.run(lo%unit, (hi-1)%unit+1, d-1, p)
		return
	}
	if lo%unit != 0 {
		p[d] = span{lo / unit, lo/unit + 1}
		s.run(lo%unit, unit, d-1, p)
		lo += unit - lo%unit
	}
	if p[d] = (span{lo / unit, hi / unit}); p[d].lo < p[d].hi {
		s.run(0, unit, d-1, p)
	}
	if hi%unit != 0 {
		p[d] = span{hi / unit, hi/unit + 1}
		s.run(0, hi%unit, d-1, p)
	}
}

// maxElements is the largest number of elements into which a box is divided whose stride is not a unit.
const maxElements = 64

// box adds the bytes of a shape that begins at number at, of one value of the digits above digit d.
func (s *splitter) box(at int64, shape box.Shape, d int, p tile) {
	if shape.Contiguous() {
		s.run(at, at+shape.Run, d, p)
		return
	}
	n, stride, one := outermost(shape)
	unit := s.units[d]
	q, rest := at/unit, at%unit
	switch {
	case stride == unit && rest+one.Extent() <= unit: // one element in each of n units
		p[d] = span{q, q + n}
		s.box(rest, one, d-1, p)
	case stride == unit && one.Contiguous(): // each element ends in the next unit
		p[d] = span{q, q + n}
		s.run(rest, unit, d-1, p)
		p[d] = span{q + 1, q + 1 + n}
		s.run(0, rest+one.Extent()-unit, d-1, p)
	case d > 0 && rest+shape.Extent() <= unit:
		p[d] = span{q, q + 1}
		s.box(rest, shape, d-1, p)
	case d > 0 && unit%stride == 0 && rest%stride+one.Extent() <= stride:
		s.across(at, n, stride, one, d, p)
	case n <= maxElements:
		for i := range n {
			s.box(at+i*stride, one, d, p)
		}
	default:
		s.exact = false
		s.run(at, at+shape.Extent(), d, p)
	}
}

// across is box for n elements at a stride that divides the unit of digit d: those in a part of a unit, in whole units,
// and again in a part. No element crosses a multiple of the stride.
func (s *splitter) across(at, n, stride int64, one box.Shape, d int, p tile) {
	unit := s.units[d]
	each := unit / stride
	index := at / stride // of the next element
	for n > 0 {
		q, i := index/each, index%each
		m, units := min(n, each-i), int64(1)
		if i == 0 {
			units = max(1, n/each)
		}
		p[d] = span{q, q + units}
		s.box(i*stride+at%stride, elements(m, stride, one), d-1, p)
		n, index = n-m*units, index+m*units
	}
}

// outermost returns the number of elements at the last stride of a shape, the stride, and an element.
func outermost(s box.Shape) (n, stride int64, one box.Shape) {
	k := 0
	if s.Count[1] > 0 {
		k = 1
	}
	n, stride = s.Count[k], s.Stride[k]
	s.Count[k], s.Stride[k] = 0, 0
	return n, stride, s
}

// elements returns n elements at a stride.
func elements(n, stride int64, one box.Shape) box.Shape {
	k := 0
	if !one.Contiguous() {
		k = 1
	}
	if n > 1 {
		one.Count[k], one.Stride[k] = n, stride
	}
	return one
}
