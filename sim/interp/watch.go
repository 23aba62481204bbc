package interp

import (
	"math/bits"

	"github.com/reprise-gpu/reprise/ptx"
)

// watcher sees the memory accesses of an engine before they are executed, when
// somebody wants to know. Nothing is in the way of a launch that nobody
// watches: runFragment asks once for each segment.
type watcher struct {
	marks []*marks // of the allocations touched, in order of the first touch
	spare []*marks
	sites []siteState // by access site

	hazards []Hazard
}

// siteState is what a site touched since it last changed allocations.
type siteState struct {
	marks  *marks
	atomic bitmap // of the site's kind of atomic operation
	inst   int
	kind   accessKind
	lo, hi uint64
}

// prepare readies the watcher for a launch of k.
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
	}
	v.spare = append(v.spare, v.marks...)
	v.marks = v.marks[:0]
}

// of is the marks of an allocation, blank on the first touch. Spare ones are
// taken by fit: marks of a large allocation stay with large ones.
func (v *watcher) of(a *allocation) *marks {
	for _, m := range v.marks {
		if m.of == a {
			return m
		}
	}
	m, need, best := &marks{}, bitmapWords(a.size), -1
	for i, s := range v.spare {
		if n := cap(s.words); n >= need && n <= 2*need+64 && (best < 0 || n < cap(v.spare[best].words)) {
			best = i
		}
	}
	if best >= 0 {
		m = v.spare[best]
		v.spare[best] = v.spare[len(v.spare)-1]
		v.spare = v.spare[:len(v.spare)-1]
	}
	m.reset(a)
	v.marks = append(v.marks, m)
	return m
}

// flush hands the ranges of the sites to the marks.
func (v *watcher) flush() {
	for i := range v.sites {
		if s := &v.sites[i]; s.marks != nil {
			s.marks.site(s.inst, s.kind, s.lo, s.hi)
			s.marks = nil
		}
	}
}

// merge adds what another watcher saw.
func (v *watcher) merge(o *watcher) {
	for _, m := range o.marks {
		v.of(m.of).merge(m)
	}
}

// execute runs a segment's records like the loop of runFragment, and shows each
// memory access first to those who watch: a load may overwrite its address.
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
			w.eng.show(w, in)
		}
		in.exec(w, in)
	}
	w.live = mask
}

// show tells all who watch of an access.
func (e *engine) show(w *warp, in *inst) {
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

// access notes what one record accesses for the live lanes.
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

// warpAccess notes an access of all live lanes to global memory; lanes that
// access one row of neighbouring elements, or all the same, make one span.
func (v *watcher) warpAccess(w *warp, in *inst) {
	n := in.x.bytes()
	if w.live == allLanes && !in.x.addr32 {
		a := view[uint64](w, in.a)
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

// wholeRow stands for the lane of an access that all make together.
const wholeRow = -1

// global notes an access of a lane to n bytes of global memory. What lies in no
// allocation is not noted: executing the access is a fault.
func (v *watcher) global(w *warp, in *inst, addr, n uint64, lane int) {
	s := &v.sites[in.site]
	if s.marks == nil || !s.marks.of.holds(addr, n) {
		a := w.eng.mem.find(addr, n)
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
	lo := addr - s.marks.of.base
	s.lo, s.hi = min(s.lo, lo), max(s.hi, lo+n)
	if in.x.kind != stores && s.marks.of.valid != nil {
		v.checkInitialised(w, in, s.marks, lo, lo+n, lane)
	}
	s.marks.mark(in.x.kind, lo, lo+n)
	if s.atomic != nil {
		s.atomic.set(lo, lo+n)
	}
}
