package interp

import (
	"fmt"
	"math/bits"
)

// A block has 16 named barriers, and one more that stands for its cluster.
const (
	maxBarriers    = 16
	clusterBarrier = maxBarriers
)

// Barrier modes: bar.sync, bar.arrive and the three forms of bar.red.
const (
	barrierSync uint8 = iota
	barrierArrive
	barrierAnd
	barrierOr
	barrierPopc
)

// barrier is one named barrier of a block, in one phase. It is reset when the phase
// completes:
//
//	arrived < counted, or < all live threads   fragments wait
//	arrived reaches it                         completeBarrier releases them
type barrier struct {
	arrived int32 // threads
	counted int32 // threads expected; 0 means all that have not exited
	yes, no int32 // for reductions: threads that arrived with a true or a false predicate
}

// barrierOperands returns a barrier instruction's id and thread count. The count is 0 if
// the barrier is for all threads.
func (w *warp) barrierOperands(in *inst, lane int) (id, count uint64) {
	id = in.imm
	if in.x.idReg {
		id = uint64(view[uint32](w, in.a)[lane])
	}
	if in.x.count {
		count = uint64(view[uint32](w, in.b)[lane])
	}
	return id, count
}

// sameBarrier returns the lanes of mask with the same barrier operands.
func (w *warp) sameBarrier(in *inst, mask uint32, id, count uint64) (m uint32) {
	each(mask, func(i int) {
		if a, b := w.barrierOperands(in, i); a == id && b == count {
			m |= 1 << i
		}
	})
	return m
}

// arrive registers f's lanes at the barrier that ends s, and reports whether f must wait.
// Lanes of the warp that are elsewhere, or that name another barrier, become a separate
// fragment, so that they can arrive as well.
func (w *warp) arrive(f *fragment, s *segment) bool {
	in := &w.kernel.code[s.last]
	mask := w.taken(f, s)
	if mask == 0 {
		f.pc = s.next
		return false
	}
	lane := firstLane(mask)
	id, count := w.barrierOperands(in, lane)
	// Lanes that name another barrier execute the instruction again, in a fragment of their
	// own.
	if other := mask &^ w.sameBarrier(in, mask, id, count); other != 0 {
		f.stack = append(f.stack, entry{f.pc, f.rpc, other})
		f.mask, mask = f.mask&^other, mask&^other
	}
	f.isolate(mask, s)
	// The cluster's barrier has no register.
	if id >= maxBarriers && in.x.idReg || count%lanes != 0 {
		w.fail(BarrierMismatch, in, lane, 0,
			fmt.Sprintf("barrier %d for %d threads: the id must be at most 15 and the count a multiple of 32", id, count))
		return true
	}
	w.split(f)
	// split may have moved the fragments.
	f = &w.frags[w.current]
	// All lanes of the warp that have not exited arrive together.
	whole := mask == ^w.exited
	f.pc = s.next
	b := &w.eng.barriers[id]
	b.counted = int32(count)
	b.arrived += arrivals(mask, whole && count != 0)
	if in.x.mode >= barrierAnd {
		p := w.getPred(in.x.p, in.x.pNeg)
		b.yes += int32(bits.OnesCount32(p & mask))
		b.no += int32(bits.OnesCount32(^p & mask))
	}
	if w.eng.tile != nil {
		w.eng.tile.arrive(w.index, int32(id))
	}
	if in.x.mode != barrierArrive {
		f.wait, f.barrier, f.at = atBarrier, int32(id), s.last
	}
	w.eng.completeBarrier(int32(id))
	return w.frags[w.current].wait == atBarrier
}

// arrivals counts the threads of mask. If the barrier names a count, a whole warp
// counts as 32 threads even if some of its lanes do not exist.
func arrivals(mask uint32, whole bool) int32 {
	if whole {
		return lanes
	}
	return int32(bits.OnesCount32(mask))
}

// leave removes exited threads from every barrier that expects all threads.
func (e *engine) leave(gone uint32) {
	e.alive -= int32(bits.OnesCount32(gone))
	if e.alive == 0 {
		return
	}
	for id := range e.barriers {
		// A barrier that names a count waits for that many threads.
		if b := &e.barriers[id]; b.arrived > 0 && b.counted == 0 {
			e.completeBarrier(int32(id))
		}
	}
}

// completeBarrier releases the waiting fragments if all threads have arrived: as many as
// the barrier names, or all that have not exited. All of them continue at the time of the
// last arrival.
func (e *engine) completeBarrier(id int32) {
	b := &e.barriers[id]
	expected := b.counted
	if expected == 0 {
		expected = e.alive
	}
	if b.arrived < expected {
		return
	}
	// The barrier completes at the time of the last arrival.
	var latest moment
	for i := range e.warps {
		if e.warps[i].waitsAt(id) {
			latest = later(latest, e.warps[i].clock)
		}
	}
	for i := range e.warps {
		if e.warps[i].waitsAt(id) {
			e.warps[i].passBarrier(id, b)
			e.warps[i].clock = latest
			if e.tile != nil {
				e.tile.pass(uint32(i), id, b.counted == 0)
			}
		}
	}
	*b = barrier{}
	if e.tile != nil {
		e.tile.complete(id)
	}
}

// waitsAt reports whether a fragment of the warp waits at a barrier.
func (w *warp) waitsAt(id int32) bool {
	for i := range w.frags {
		if w.frags[i].wait == atBarrier && w.frags[i].barrier == id {
			return true
		}
	}
	return false
}

// passBarrier lets the fragments that wait at a barrier continue, and stores the result of
// a reduction in their registers.
func (w *warp) passBarrier(id int32, b *barrier) {
	for i := range w.frags {
		f := &w.frags[i]
		if f.wait != atBarrier || f.barrier != id {
			continue
		}
		f.wait = running
		in := &w.kernel.code[f.at]
		// Results are stored for the lanes of the fragment only.
		live := w.live
		w.live = f.mask
		switch in.x.mode {
		case barrierAnd:
			w.setPred(in.d, maskOf(b.no == 0))
		case barrierOr:
			w.setPred(in.d, maskOf(b.yes > 0))
		case barrierPopc:
			w.broadcast(in.d, uint32(b.yes))
		}
		w.live = live
	}
}

// isolate splits off the lanes of f that skip the guarded end of s.
func (f *fragment) isolate(mask uint32, s *segment) {
	if mask != f.mask {
		f.stack = append(f.stack, entry{s.next, f.rpc, f.mask &^ mask})
		f.mask = mask
	}
}

// stuck returns the fault of a block none of whose warps can continue: a barrier or a
// warp-wide operation that never completes.
func (e *engine) stuck() *Fault {
	for i := range e.warps {
		w := &e.warps[i]
		for j := range w.frags {
			if f := &w.frags[j]; f.wait == atBarrier {
				return e.stuckAtBarrier(w, f)
			}
		}
	}
	for i := range e.warps {
		w := &e.warps[i]
		for j := range w.frags {
			if f := &w.frags[j]; f.wait == atWarpSync {
				return e.stuckAtSync(w, f)
			}
		}
	}
	panic("BUG: block has live threads but none runs or waits")
}

// stuckAtBarrier returns the fault of threads that wait at a barrier.
func (e *engine) stuckAtBarrier(w *warp, f *fragment) *Fault {
	b := e.barriers[f.barrier]
	expected := fmt.Sprintf("all %d live threads", e.alive)
	if b.counted != 0 {
		expected = fmt.Sprintf("%d threads", b.counted)
	}
	elsewhere := e.alive - e.waiting(f.barrier)
	w.fail(BarrierMismatch, &w.kernel.code[f.at], bits.TrailingZeros32(f.mask), 0,
		fmt.Sprintf("barrier %d waits for %s: %d arrived, %d wait elsewhere, %d have exited",
			f.barrier, expected, b.arrived, elsewhere, int32(e.threads)-e.alive))
	return w.fault
}

// waiting returns the number of threads that wait at a barrier.
func (e *engine) waiting(id int32) (n int32) {
	for i := range e.warps {
		for j := range e.warps[i].frags {
			if f := &e.warps[i].frags[j]; f.wait == atBarrier && f.barrier == id {
				n += int32(bits.OnesCount32(f.mask))
			}
		}
	}
	return n
}

// stuckAtSync returns the fault of lanes that wait for lanes of their warp.
func (e *engine) stuckAtSync(w *warp, f *fragment) *Fault {
	in, members := &w.kernel.code[f.at], f.members&^w.exited
	w.fail(Deadlock, in, bits.TrailingZeros32(f.mask), 0,
		fmt.Sprintf("the member mask names lanes %#x, of which %#x never arrive", members, members&^w.arrived(f)))
	return w.fault
}
