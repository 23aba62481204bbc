package interp

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// Blocks of large problems spend their time in loops of many equal iterations. A sampled
// block skips most of them. If a loop's counter has grown by the same amount in two
// successive iterations, the comparison that ends the loop determines how many are left.
// The counter, and every other register that grows linearly, is advanced as if they had
// been run, and the cost of an iteration is added that many times. Other registers keep
// their values: sums, which are meaningless in a sample, and values loaded anew in each
// iteration.
//
//	iteration   1 … 4     run
//	            4         snapshot of the counters
//	            6, 7, 8   values of the registers: do they grow by equal amounts?
//	            8         n iterations remain: add n times the mean cost of 5 … 8
//	            8+n       run; it may be the last
//
// A loop whose iterations pass a break is run in full, since it is unknown in which of them
// the break will be taken. Breaks on paths that the last iterations did not take do not
// matter.
//
// Only iterations in which a warp does not wait for another are skipped, so that the warps
// of a block still meet at their barriers.

// countedLoop is a backward branch whose condition is one comparison.
type countedLoop struct {
	carried []element // registers that are alive at its target, and the compared ones
	compare int32     // the instruction that sets its guard
	a, b    element   // the registers that it compares
	breaks  []int32   // other segments from which control may leave the loop
}

// warmIterations is the number of iterations that are run before the others are skipped. The
// later half of them is measured. It is large enough that the loop has reached its
// steady state, and that short loops, such as those over a filter, are run in full.
const warmIterations = 8

// minLeapInsts is the least number of instructions that a leap must save: computing its
// length costs the host about as much.
const minLeapInsts = 4096

// loopState is a warp's state for one loop.
type loopState struct {
	taken   int   // consecutive iterations that all lanes continued
	attempt int   // the value of taken at which to try a leap; grows with each leap that is not worth it
	run     int64 // of the warp, in which all were taken
	values  [3][]uint64
	halfway counterSnapshot // at half the turns to the attempt
}

// counterSnapshot contains the counters that skipped iterations multiply.
type counterSnapshot struct {
	count  counters
	clock  moment
	gauge  [8]int64
	visits []int64
}

// loops finds the loops whose iterations can be skipped.
func (l *lowering) loops() (found []countedLoop) {
	code := int32(0)
	codeOf := make([]int32, len(l.items))
	for j := range l.items {
		codeOf[j] = code
		if !l.items[j].free {
			code++
		}
	}
	for i := range l.k.segments {
		s := &l.k.segments[i]
		s.loop = -1
		if s.ending != branches || s.target > int32(i) || l.items[l.endings[i]].guard == noSlot {
			continue
		}
		j := l.comparisonOf(i, l.items[l.endings[i]].guard)
		if j < 0 {
			continue
		}
		a, b := l.items[j].a, l.items[j].b
		lp := countedLoop{compare: codeOf[j], a: element{l.vregs[a].at, l.vregs[a].size}, b: element{l.vregs[b].at, l.vregs[b].size}}
		lp.breaks = l.breaks(s.target, int32(i))
		for r := range l.vregs {
			alive := l.alive[s.target].Has(int(r)) || slot(r) == a || slot(r) == b
			if v := &l.vregs[r]; v.home == temporary && v.size >= 4 && alive {
				lp.carried = append(lp.carried, element{v.at, v.size})
			}
		}
		s.loop = int32(len(found))
		found = append(found, lp)
	}
	return found
}

// breaks lists the segments in first..last from which control may leave this range.
func (l *lowering) breaks(first, last int32) (list []int32) {
	for i := first; i < last; i++ {
		s := &l.k.segments[i]
		outside := func(to int32) bool { return to < first || to > last }
		if s.ending == exits || s.ending == returns || slices.ContainsFunc(s.flowsTo(), outside) {
			list = append(list, i)
		}
	}
	return list
}

// comparisonOf returns the item of segment i that sets a predicate by comparing two
// registers and does nothing else, or -1.
func (l *lowering) comparisonOf(i int, guard slot) int {
	first, end := l.span(i)
	for j := end - 2; j >= first; j-- {
		it := &l.items[j]
		if it.d != guard {
			continue
		}
		if it.free || it.guard != noSlot || it.x != nil && it.x.d2 != noSlot || it.a == noSlot || it.b == noSlot || it.c != noSlot ||
			l.vregs[it.a].size < 4 || l.vregs[it.a].size != l.vregs[it.b].size {
			return -1
		}
		return j
	}
	return -1
}

// leap ends an iteration of a loop that f continues, and may skip further ones. The state
// is reset if the warp has yielded since the last iteration, or is split.
func (w *warp) leap(f *fragment, s *segment) {
	t := &w.loopStates[s.loop]
	// The warp waited since the last iteration, or is split: count anew.
	if t.taken == 0 || t.run != w.turnCount || len(w.frags) != 1 {
		t.taken, t.attempt, t.run = 0, max(t.attempt, warmIterations), w.turnCount
	}
	t.taken++
	switch t.taken {
	case t.attempt / 2:
		w.takeSnapshot(&t.halfway)
		return
	case t.attempt - 2, t.attempt - 1:
		w.saveValues(s.loop, t.taken-t.attempt+2)
		return
	case t.attempt:
	default:
		return
	}
	w.saveValues(s.loop, 2)
	measured := t.attempt - t.attempt/2
	turn := (w.eng.count.insts - t.halfway.count.insts) / int64(measured)
	if n := w.remaining(f, s); n > 1 && (n-1)*uint64(turn) >= minLeapInsts {
		w.advanceRegisters(s.loop, f.mask, n-1)
		w.addIterations(&t.halfway, measured, n-1)
		t.taken = 0
		return
	}
	// A loop with few iterations left is not worth the search.
	t.attempt *= 2 // kept when the loop is entered again, so that short loops are soon ignored
}

// leaveLoop resets the state of a loop that not all lanes continue.
func (w *warp) leaveLoop(s *segment) {
	if w.eng.skipsIterations && s.loop >= 0 {
		w.loopStates[s.loop].taken = 0
	}
}

// saveValues saves the values of the loop's registers, as those of iteration at (0, 1 or
// 2).
func (w *warp) saveValues(loop int32, at int) {
	t, v := &w.loopStates[loop], w.loopStates[loop].values[at][:0]
	for _, e := range w.kernel.loops[loop].carried {
		from := int(e.reg) / 8
		v = append(v, w.file[from:from+lanes*e.size/8]...)
	}
	t.values[at] = v
}

// advanceRegisters advances the registers that have grown by equal amounts in the last two
// iterations, by n iterations.
func (w *warp) advanceRegisters(loop int32, mask uint32, n uint64) {
	t, at := &w.loopStates[loop], 0
	for _, e := range w.kernel.loops[loop].carried {
		words := lanes * e.size / 8
		if e.size == 4 {
			extrapolate(view[uint32](w, e.reg), mask, n, values[uint32](t, 0, at), values[uint32](t, 1, at), values[uint32](t, 2, at))
		} else {
			extrapolate(view[uint64](w, e.reg), mask, n, values[uint64](t, 0, at), values[uint64](t, 1, at), values[uint64](t, 2, at))
		}
		at += words
	}
}

// values returns the saved lanes of a register: i is the iteration, at the position of the
// register in words.
func values[T uint32 | uint64](t *loopState, i, at int) *[lanes]T {
	return (*[lanes]T)(unsafe.Pointer(&t.values[i][at]))
}

// extrapolate adds to c n times its growth from b, if all lanes of mask grew from b to c by
// the same amount as from a to b. Otherwise it restores c.
func extrapolate[T uint32 | uint64](to *[lanes]T, mask uint32, n uint64, a, b, c *[lanes]T) {
	even := true
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		even = even && b[i]-a[i] == c[i]-b[i]
	}
	for m := mask; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; even {
			to[i] = c[i] + T(n)*(c[i]-b[i])
		} else {
			to[i] = c[i]
		}
	}
}

// remaining returns the number of iterations after which all lanes still continue, 0 if it
// is unknown. A candidate from untilEqual is verified by executing the comparison with the
// registers advanced by it. The registers are left unchanged.
func (w *warp) remaining(f *fragment, s *segment) uint64 {
	l := &w.kernel.loops[s.loop]
	before, now := w.loopStates[s.loop].halfway.visits, w.eng.visits
	if slices.ContainsFunc(l.breaks, func(at int32) bool { return now[at] != before[at] }) {
		return 0
	}
	in := &w.kernel.code[l.compare]
	continues := func(n uint64) bool {
		w.advanceRegisters(s.loop, f.mask, n)
		w.live = f.mask
		in.exec(w, in)
		return w.taken(f, s) == f.mask
	}
	defer continues(0)
	switch n := w.untilEqual(s.loop, f.mask); {
	case n == 0 || !continues(0):
		return 0
	// The loop ends when the registers are equal.
	case !continues(n) && continues(n-1): // the compared registers become equal
		return n - 1
	case continues(n) && !continues(n+1):
		return n
	}
	return 0
}

// untilEqual returns the number of iterations until the compared registers are as close
// as they get without crossing, in the lane where that is soonest; 0 if they do not
// approach each other.
func (w *warp) untilEqual(loop int32, mask uint32) uint64 {
	l, soonest := &w.kernel.loops[loop], uint64(math.MaxUint64)
	var apart [2][lanes]int64
	for n := range apart {
		w.advanceRegisters(loop, mask, uint64(n))
		for i := range lanes {
			apart[n][i] = int64(signExtend(w.lane(l.a, i)-w.lane(l.b, i), l.a.size, true))
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, by := apart[0][i], apart[1][i]-apart[0][i]
		if by == 0 || from/by > 0 {
			return 0
		}
		soonest = min(soonest, uint64(-(from / by)))
	}
	return soonest
}

// takeSnapshot saves the counters.
func (w *warp) takeSnapshot(m *counterSnapshot) {
	e := w.eng
	m.count, m.clock = e.count, w.clock
	for i, n := range e.gauge.counts() {
		m.gauge[i] = *n
	}
	m.visits = append(m.visits[:0], e.visits...)
}

// addIterations adds n times the mean cost of the last iterations to the counters, rounded.
func (w *warp) addIterations(since *counterSnapshot, last int, n uint64) {
	e := w.eng
	times := float64(n) / float64(last)
	more := func(at *int64, before int64) int64 {
		d := int64(float64(*at-before)*times + 0.5)
		*at += d
		return d
	}
	c, b := &e.count, &since.count
	more(&c.laneInsts, b.laneInsts)
	more(&c.flops, b.flops)
	more(&c.read, b.read)
	more(&c.written, b.written)
	more(&c.atomics, b.atomics)
	c.skipped += more(&c.insts, b.insts)
	more(&w.clock.cycles, since.clock.cycles)
	more(&w.clock.trips, since.clock.trips)
	more(&w.clock.barriers, since.clock.barriers)
	missed := e.gauge.missed
	for i, at := range e.gauge.counts() {
		more(at, since.gauge[i])
	}
	e.gauge.l1.displace(e.gauge.missed - missed)
	for i := range e.visits {
		more(&e.visits[i], since.visits[i])
	}
}
