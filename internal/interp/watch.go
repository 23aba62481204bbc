package interp

import (
	"math/bits"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// watcher records the memory accesses of an engine before they are executed, in launches
// with a Record. Other launches pay one test per segment, in runFragment.
//
//	access of a warp ─► spans of adjacent lanes ─► siteState: smallest and largest offset
//	                                           └─► marks: one bit per byte and kind
type watcher struct {
	marks   []*marks // of the allocations touched, in order of the first touch
	marksOf map[*allocation]*marks
	spare   [64][]*marks // by the binary logarithm of their size
	sites   []siteState  // by access site

	hazards []Hazard
}

// siteState is the range that a site has touched since it last changed allocations.
type siteState struct {
	marks  *marks
	atomic bitmap // of the site's kind of atomic operation
	inst   int
	kind   accessKind
	lo, hi uint64
}

// prepare initialises the watcher for a launch of k.
func (v *watcher) prepare(k *Kernel) {
	if cap(v.sites) < k.sites {
		v.sites = make([]siteState, k.sites)
	}
	v.sites = v.sites[:k.sites]
	clear(v.sites)
	v.hazards = v.hazards[:0]
}

// release wipes the marks and keeps their memory for the next launch.
func (v *watcher) release() {
	for _, m := range v.marks {
		m.wipe()
		class := sizeClass(cap(m.words))
		v.spare[class] = append(v.spare[class], m)
	}
	v.marks = v.marks[:0]
	clear(v.marksOf)
}

// of returns the marks of an allocation, which are empty on its first touch. Sizes are
// powers of two, so that spare marks of the same class can be reused.
func (v *watcher) of(a *allocation) *marks {
	m := v.marksOf[a]
	if m != nil {
		return m
	}
	class := sizeClass(bitmapWords(a.size))
	if n := len(v.spare[class]); n > 0 {
		m = v.spare[class][n-1]
		v.spare[class] = v.spare[class][:n-1]
	} else {
		m = newMarks(1 << class)
	}
	m.reset(a)
	v.marks = append(v.marks, m)
	v.marksOf[a] = m
	return m
}

// sizeClass is the binary logarithm of n, rounded up.
func sizeClass(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// flush transfers the ranges of the sites to the marks.
func (v *watcher) flush() {
	for i := range v.sites {
		if s := &v.sites[i]; s.marks != nil {
			s.marks.site(s.inst, s.kind, s.lo, s.hi)
			s.marks = nil
		}
	}
}

// merge adds the marks of another watcher.
func (v *watcher) merge(o *watcher) {
	for _, m := range o.marks {
		v.of(m.of).merge(m)
	}
}

// executeWatched runs a segment's records like the loop of runFragment. It reports each
// memory access before it is executed, since a load may overwrite its own address.
func (w *warp) executeWatched(s *segment, mask uint32) {
	for i := s.first; i < s.end && w.fault == nil; i++ {
		in := &w.kernel.code[i]
		if w.live = mask; in.guard != noSlot {
			w.live &= w.getPred(in.guard, in.neg)
		}
		if w.live == 0 {
			continue
		}
		if in.x != nil && in.x.memory {
			w.eng.reportAccess(w, in)
		}
		in.exec(w, in)
	}
	w.live = mask
}

// reportAccess reports an access to the enabled watchers: the record, the race detector of
// shared memory, and the gauge.
func (e *engine) reportAccess(w *warp, in *inst) {
	if e.watch != nil {
		e.watch.access(w, in)
	}
	if e.tile != nil && in.x.space != ptx.Global {
		e.tile.access(w, in)
	}
	if e.gauge.on {
		e.gauge.access(w, in)
	}
}

// access records the access of one record by the live lanes.
func (v *watcher) access(w *warp, in *inst) {
	switch in.x.space {
	case ptx.Global:
		v.warpAccess(w, in)
	case ptx.Generic:
		n := in.x.bytes()
		for m := w.live; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			if addr := w.address(in, lane); addr-sharedWindow >= windowSize && addr-localWindow >= windowSize {
				v.global(w, in, addr, n, lane)
			}
		}
	}
}

// warpAccess records an access of all live lanes to global memory. Lanes that access
// adjacent elements, or all the same, make one span.
func (v *watcher) warpAccess(w *warp, in *inst) {
	n := in.x.bytes()
	if w.live == allLanes && !in.x.addr32 {
		a := view[uint64](w, in.a)
		// Both tests in one pass without branches: differences are collected by OR.
		var row, same uint64
		for i := range lanes {
			row |= a[i] ^ (a[0] + uint64(i)*n)
			same |= a[i] ^ a[0]
		}
		switch {
		case row == 0:
			v.global(w, in, a[0]+in.imm, lanes*n, wholeRow)
			return
		case same == 0:
			v.global(w, in, a[0]+in.imm, n, 0)
			return
		}
	}
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		v.global(w, in, w.address(in, lane), n, lane)
	}
}

// wholeRow is the lane number of an access that all lanes make together.
const wholeRow = -1

// global records an access of a lane to n bytes of global memory. lane is wholeRow for an
// access of all lanes to adjacent elements. An access outside all allocations is not
// recorded, since its execution is a fault.
func (v *watcher) global(w *warp, in *inst, addr, n uint64, lane int) {
	s := &v.sites[in.site]
	// The site has moved to another allocation. Most sites stay in one.
	if s.marks == nil || !s.marks.of.holds(addr, n) {
		a := w.eng.mem.findFor(in.x.kind, addr, n)
		if a == nil {
			return
		}
		if s.marks != nil {
			s.marks.site(s.inst, s.kind, s.lo, s.hi)
		}
		*s = siteState{marks: v.of(a), inst: w.kernel.indexOf(in), kind: in.x.kind, lo: a.size}
		if in.x.kind == updates {
			s.atomic = s.marks.atomic(in.x.atomic)
		}
	}
	if len(w.eng.launch.Declared) > 0 {
		v.checkDeclared(w, in, addr, n, lane)
	}
	lo := addr - s.marks.of.base
	s.lo, s.hi = min(s.lo, lo), max(s.hi, lo+n)
	if in.x.kind != stores && !in.x.ignoresOld && s.marks.of.valid != nil {
		v.checkInitialised(w, in, s.marks, lo, lo+n, lane)
	}
	s.marks.mark(in.x.kind, lo, lo+n)
	if s.atomic != nil {
		s.atomic.set(lo, lo+n)
	}
}
