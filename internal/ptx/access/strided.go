package access

import "math"

// strided is a set of integers with strides:
//
//	lo + i0·step0 + i1·step1 + …     0 <= ik < nk
//
// Without levels, it is all integers of the interval. With levels, the interval is the hull
// of the set. It describes a register as an interval does. The rows and columns of a tile,
// for example, are two levels:
//
//	lo 5, levels {1, 3} {8, 2}:      5 6 7 · · · · · 13 14 15
//
// Every operation returns a superset of the exact results, in constant time. Sums and
// products with one number are exact if the levels suffice. Operations that are not
// here have the interval as their result.
//
// Invariant: steps ascend, each is greater than the extent of the levels before it, and no
// level continues the one before. The only level is not {1, n}, which is an interval.
type strided struct {
	interval
	used   int // levels in use
	levels [maxLevels]level
}

// level is the numbers 0, step, …, (n-1)·step, with n >= 2.
type level struct{ step, n int64 }

// maxLevels suffices for the bytes of a block of a 3-D array, and for a loop.
const maxLevels = 5

// maxExtent bounds the extent of sets with levels, so that sums of two do not overflow.
const maxExtent = 1 << 60

// gapless returns the set of all integers of an interval.
func gapless(a interval) strided { return strided{interval: a} }

// extent returns hi-lo. ok is false if it exceeds maxExtent, or if the interval is empty.
func (a interval) extent() (n int64, ok bool) {
	if a.isEmpty() || uint64(a.hi)-uint64(a.lo) >= maxExtent {
		return 0, false
	}
	return a.hi - a.lo, true
}

// list appends the levels of a to list.
func (a *strided) list(list []level) []level {
	if a.used > 0 {
		return append(list, a.levels[:a.used]...)
	}
	if n, ok := a.extent(); ok && n > 0 {
		return append(list, level{1, n + 1})
	}
	return list
}

// count returns the number of elements, for an extent of at most maxExtent.
func (a *strided) count() int64 {
	if a.used == 0 {
		return a.hi - a.lo + 1
	}
	n := int64(1)
	for _, l := range a.levels[:a.used] {
		n *= l.n
	}
	return n
}

// fromLevels returns the set with the given lowest element and levels, in any order. It
// changes list.
func fromLevels(lo int64, list []level) strided {
	list = atMost(maxLevels, canonical(list))
	out := strided{interval: interval{lo, lo + extentOf(list)}}
	if len(list) == 1 && list[0].step == 1 {
		return out
	}
	out.used = copy(out.levels[:], list)
	return out
}

// canonical returns levels that satisfy the invariant of strided, in place.
func canonical(list []level) []level {
	sortLevels(list)
	kept := list[:0]
	for _, l := range list {
		if l.n > 1 {
			kept = appendLevel(kept, l)
		}
	}
	return kept
}

// atMost joins neighbouring levels until n are left. It joins those first that make the set
// grow least.
func atMost(n int, list []level) []level {
	for len(list) > n {
		best, growth := 0, math.Inf(1)
		for k := range len(list) - 1 {
			f := float64(joined(list[k], list[k+1]).n) / (float64(list[k].n) * float64(list[k+1].n))
			if f < growth {
				best, growth = k, f
			}
		}
		list[best] = joined(list[best], list[best+1])
		list[best+1].n = 0
		list = canonical(list)
	}
	return list
}

// joined returns the level that contains the sums of two levels.
func joined(a, b level) level {
	step := gcd(a.step, b.step)
	return level{step, ((a.n-1)*a.step+(b.n-1)*b.step)/step + 1}
}

// sortLevels sorts by step. Lists are short and almost sorted.
func sortLevels(list []level) {
	for i := range list {
		for k := i; k > 0 && list[k].step < list[k-1].step; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
}

// extentOf returns the difference of the largest and the smallest element.
func extentOf(list []level) int64 {
	e := int64(0)
	for _, l := range list {
		e += (l.n - 1) * l.step
	}
	return e
}

// appendLevel appends a level whose step is at least that of the last one:
//
//	{4, 16} {64, 8}      becomes {4, 128}: the second continues the first
//	{4, 16} {32, 8}      becomes {4, 72}: they overlap, and 4 divides 32
//	{4, 16} {30, 8}      becomes {2, 136}: they overlap otherwise, and the set grows
func appendLevel(list []level, l level) []level {
	for len(list) > 0 {
		last := &list[len(list)-1]
		inner := extentOf(list)
		switch {
		case l.step%last.step == 0 && l.step/last.step <= last.n:
			l = level{last.step, last.n + (l.n-1)*(l.step/last.step)}
			list = list[:len(list)-1]
		case l.step > inner:
			return append(list, l)
		default:
			step := l.step
			for _, k := range list {
				step = gcd(step, k.step)
			}
			return append(list[:0], level{step, (inner+(l.n-1)*l.step)/step + 1})
		}
	}
	return append(list, l)
}

// gcd returns the greatest common divisor of two positive numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// add returns the sums of both sets.
func (a strided) add(b strided) strided {
	sum := a.interval.add(b.interval)
	if a.used == 0 && b.used == 0 {
		return gapless(sum)
	}
	if _, ok := sum.extent(); !ok || sum == all {
		return gapless(sum)
	}
	if b.single() {
		a, b = b, a
	}
	if a.single() {
		b.interval = sum
		return b
	}
	var room [2 * maxLevels]level
	return fromLevels(sum.lo, b.list(a.list(room[:0])))
}

// neg returns the negated numbers. Sets are symmetric, so that the levels remain.
func (a strided) neg() strided {
	a.interval = a.interval.neg()
	if a.interval == all {
		return gapless(all)
	}
	return a
}

// sub returns a + (-b).
func (a strided) sub(b strided) strided { return a.add(b.neg()) }

// mul returns the products. Only those with one number keep strides.
func (a strided) mul(b strided) strided {
	if a.single() {
		a, b = b, a
	}
	product := a.interval.mul(b.interval)
	_, ok := product.extent()
	if !ok || product == all || !b.single() || b.lo == 0 {
		return gapless(product)
	}
	factor := max(b.lo, -b.lo)
	if a.used == 0 && factor > 1 && !a.single() {
		a.used, a.levels[0] = 1, level{1, a.hi - a.lo + 1}
	}
	for i := range a.levels[:a.used] {
		a.levels[i].step *= factor
	}
	a.interval = product
	return a
}

// extend keeps the levels if no element wraps around the others.
func (a strided) extend(width uint8, signed bool) strided {
	out := a.interval.extend(width, signed)
	if a.used == 0 || width >= 64 || a.isEmpty() {
		a.interval = out
		return a
	}
	if out.hi-out.lo != a.hi-a.lo || (out.lo-a.lo)&(int64(1)<<width-1) != 0 {
		return gapless(out)
	}
	a.interval = out
	return a
}

// within returns the elements in r, which is a part of the hull of a, as far as levels can
// express them: from each level, it drops the elements outside r.
//
//	levels {1, 8} {100, 10}, lo 0      rows of 8
//	r = [0, 250]                       levels {1, 8} {100, 3}
func (a strided) within(r interval) strided {
	if a.used == 0 || r.isEmpty() {
		return gapless(r)
	}
	var room [maxLevels]level
	list := append(room[:0], a.levels[:a.used]...)
	lo := a.lo
	for k := len(list) - 1; k >= 0; k-- {
		l := &list[k]
		// Element i of the level spans [lo+i·step, lo+i·step+others].
		others := extentOf(list) - (l.n-1)*l.step
		first := min(max(ceilDiv(r.lo-lo-others, l.step), 0), l.n-1)
		last := min(max(floorDiv(r.hi-lo, l.step), first), l.n-1)
		lo += first * l.step
		l.n = last - first + 1
	}
	out := fromLevels(lo, list)
	if n, ok := r.extent(); ok && n < out.count() { // r cuts most elements in the middle
		return gapless(r)
	}
	return out
}

// floorDiv returns a/b rounded down, for b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ceilDiv returns a/b rounded up, for b > 0.
func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// union returns a set that contains both. It has the levels of both, each extended so that
// it contains the elements of both:
//
//	a: lo 0, levels {1, 8} {100, 10}      rows of 8
//	b: lo 101, the same levels            one row lower, one column to the right
//	union: levels {1, 9} {100, 11}
//
// Sets that are far apart are the two elements of a new level. Of the two results, and the
// interval, union returns the smallest.
func (a strided) union(b strided) strided {
	switch {
	case a.isEmpty():
		return b
	case b.isEmpty():
		return a
	case b.lo < a.lo:
		a, b = b, a
	}
	hull := a.interval.union(b.interval)
	n, ok := hull.extent()
	if !ok || n >= maxExtent/4 || a.used == 0 && b.used == 0 && b.lo <= a.hi+1 {
		return gapless(hull)
	}
	best := gapless(hull)
	for _, apart := range [2]bool{false, true} {
		if one := unite(&a, &b, apart); one.count() < best.count() {
			best = one
		}
	}
	return best
}

// unite returns a union of a and b, where b begins behind a. The distance of the two is a level
// of its own if apart is set, and otherwise expressed by the steps of the levels, the largest
// first.
func unite(a, b *strided, apart bool) strided {
	var rooms [2][maxLevels]level
	var room [2*maxLevels + 2]level
	as, bs, list := a.list(rooms[0][:0]), b.list(rooms[1][:0]), room[:0]
	lo, distance := a.lo, b.lo-a.lo
	if apart && distance > 0 {
		list, distance = append(list, level{distance, 2}), 0
	}
	for len(as) > 0 || len(bs) > 0 {
		step := max(lastStep(as), lastStep(bs))
		m, n := int64(1), int64(1) // elements of a and of b at this step
		if lastStep(as) == step {
			m, as = as[len(as)-1].n, as[:len(as)-1]
		}
		if lastStep(bs) == step {
			n, bs = bs[len(bs)-1].n, bs[:len(bs)-1]
		}
		// b begins shift elements behind a.
		shift := floorDiv(distance+step/2, step)
		distance -= shift * step
		lo += min(shift, 0) * step
		list = append(list, level{step, max(m, shift+n) - min(shift, 0)})
	}
	if distance != 0 { // less than the smallest step
		lo += min(distance, 0)
		list = append(list, level{max(distance, -distance), 2})
	}
	return fromLevels(lo, list)
}

// lastStep returns the largest step of levels, 0 for none.
func lastStep(list []level) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].step
}
