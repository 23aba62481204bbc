package box

// Overlaps reports whether two valid boxes have a byte in common. The result is exact.
//
// The search descends through both boxes. At each step, the hulls of two parts have bytes
// in common, and one part is divided into its elements:
//
//   - If one part is contiguous, the elements of the other between the first and the last
//     that it meets lie inside it.
//   - If both have elements at the same stride, only the difference of their indices
//     matters, and at most three differences bring two elements together.
//   - Otherwise each element of the part with the larger stride is compared with the
//     other part.
//
// The first two cases take constant time. The third takes time linear in the elements
// inside the common hull.
func (b Box) Overlaps(c Box) bool {
	if b.Empty() || c.Empty() {
		return false
	}
	return part{b.Lo, &b.Shape, b.levels()}.meets(part{c.Lo, &c.Shape, c.levels()})
}

// levels returns the number of strides.
func (s *Shape) levels() int {
	n := 0
	for n < len(s.Count) && s.Count[n] > 0 {
		n++
	}
	return n
}

// part is a box, or one of its elements: the first levels of its shape at an offset.
type part struct {
	lo     int64
	shape  *Shape
	levels int
}

func (p part) hi() int64 { return p.lo + p.shape.upTo(p.levels) }

// stride returns the stride of the elements of p, which has levels, and their number.
func (p part) stride() (d, n int64) { return p.shape.Stride[p.levels-1], p.shape.Count[p.levels-1] }

// element returns element i of p.
func (p part) element(i int64) part {
	return part{p.lo + i*p.shape.Stride[p.levels-1], p.shape, p.levels - 1}
}

// within returns the first and the last element whose hulls have bytes in [lo, hi). There is
// none if last < first.
func (p part) within(lo, hi int64) (first, last int64) {
	d, n := p.stride()
	extent := p.shape.upTo(p.levels - 1)
	return max(0, ceil(lo-p.lo-extent+1, d)), min(n-1, floor(hi-1-p.lo, d))
}

// meets reports whether two parts have a byte in common.
func (p part) meets(q part) bool {
	if p.lo >= q.hi() || q.lo >= p.hi() {
		return false
	}
	switch {
	case p.levels == 0 && q.levels == 0:
		return true
	case p.levels == 0:
		return q.meetsRun(p)
	case q.levels == 0:
		return p.meetsRun(q)
	}
	dp, np := p.stride()
	dq, nq := q.stride()
	switch {
	case dp == dq:
		return p.meetsAligned(q, dp, np, nq)
	case dp < dq:
		p, q = q, p
	}
	first, last := p.within(q.lo, q.hi())
	for i := first; i <= last; i++ {
		if p.element(i).meets(q) {
			return true
		}
	}
	return false
}

// meetsRun is meets for a contiguous part.
func (p part) meetsRun(run part) bool {
	first, last := p.within(run.lo, run.hi())
	if last-first >= 2 { // the elements between lie inside the run
		return true
	}
	for i := first; i <= last; i++ {
		if p.element(i).meets(run) {
			return true
		}
	}
	return false
}

// meetsAligned is meets for parts of np and nq elements at the same stride d. Element i of p
// and element i+k of q are as far apart as element 0 and element k.
func (p part) meetsAligned(q part, d, np, nq int64) bool {
	one := p.element(0)
	extent := q.shape.upTo(q.levels - 1)
	first, last := ceil(one.lo-q.lo-extent+1, d), floor(one.hi()-1-q.lo, d)
	for k := max(first, 1-np); k <= min(last, nq-1); k++ {
		if one.meets(q.element(k)) {
			return true
		}
	}
	return false
}

// Holds reports whether b contains all bytes of c. It may return false although it does if
// the strides of the two differ.
func (b Box) Holds(c Box) bool {
	switch {
	case c.Empty():
		return true
	case b.Empty() || c.Lo < b.Lo || c.Hi() > b.Hi():
		return false
	}
	return part{b.Lo, &b.Shape, b.levels()}.holds(part{c.Lo, &c.Shape, c.levels()})
}

// holds is Holds for parts. The elements of q are added level by level: q lies in an element
// of p, or its elements lie in as many elements of p.
func (p part) holds(q part) bool {
	if q.lo < p.lo || q.hi() > p.hi() {
		return false
	}
	if p.levels == 0 {
		return true
	}
	d, n := p.stride()
	if q.levels > 0 {
		if dq, nq := q.stride(); dq%d == 0 {
			// Elements of q that are one element of p apart, or several.
			first := floor(q.lo-p.lo, d)
			return first+(nq-1)*(dq/d) < n && p.element(first).holds(q.element(0))
		}
	}
	return p.element(min(n-1, floor(q.lo-p.lo, d))).holds(q)
}
