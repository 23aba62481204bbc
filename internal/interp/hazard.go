package interp

import (
	"math/bits"
	"slices"
)

// HazardKind is the kind of an error in an access of a watched launch.
type HazardKind uint8

const (
	// UninitialisedRead is a load of global memory that nothing has written.
	UninitialisedRead HazardKind = iota
	// UninitialisedShared is a load of shared memory that nothing in the block has written.
	UninitialisedShared
	// SharedRace is a pair of unordered accesses to the same bytes of shared memory by
	// threads of a block, at least one of them a store.
	SharedRace
	// UndefinedShuffle is a shuffle in which a lane reads the value of a lane that does not
	// execute it.
	UndefinedShuffle
	// Undeclared is an access to bytes of a buffer of Launch.Declared that the block may not access.
	Undeclared
)

// Hazard is an access, or a pair of accesses, with an undefined result on a GPU. One is
// kept for each instruction, or pair of instructions: that of the first block in grid
// order.
type Hazard struct {
	Kind    HazardKind
	Inst    int // an argument for Kernel.Place
	Block   [3]uint32
	Thread  [3]uint32
	Address uint64 // of the access; in shared memory, the offset
	Bytes   uint64 // of the access
	// Partial is set for a vector load if some of its elements have been written. The
	// others are probably padding.
	Partial bool
	Stores  bool // of a race: Inst stores or updates
	Lane    int  // of the warp, that a shuffle reads
	Of      int  // index in Launch.Declared of undeclared bytes

	// The other side of a race.
	Other       int
	OtherThread [3]uint32
	OtherStores bool

	block int64 // in grid order
}

// threadAt returns the position of a warp's lane in its block.
func (w *warp) threadAt(lane int) [3]uint32 {
	return w.eng.threadAt(int(w.index)*lanes + lane)
}

// threadAt returns the position of thread i of a block, in the order of x, y and z.
func (e *engine) threadAt(i int) [3]uint32 {
	t, b := uint32(i), e.launch.Block
	return [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]}
}

// laneAt returns the first live lane whose access contains addr.
func (w *warp) laneAt(in *inst, addr uint64) int {
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if a := w.address(in, lane); addr >= a && addr-a < in.x.bytes() {
			return lane
		}
	}
	panic("BUG: no live lane accesses the address of the access")
}

// hazard keeps h unless its instruction already has a hazard.
func (v *watcher) hazard(w *warp, h Hazard) {
	h.Block, h.block = w.eng.block, w.eng.linearBlock()
	v.hazards = keepFirst(v.hazards, h)
}

// same reports whether two hazards concern the same instructions.
func (h *Hazard) same(o *Hazard) bool {
	return h.Kind == o.Kind && (h.Inst == o.Inst && h.Other == o.Other || h.Kind == SharedRace && h.Inst == o.Other && h.Other == o.Inst)
}

// keepFirst adds h to a list, unless the list has a hazard of the same instructions in an
// earlier block.
func keepFirst(list []Hazard, h Hazard) []Hazard {
	for i := range list {
		if o := &list[i]; o.same(&h) {
			if h.block < o.block {
				*o = h
			}
			return list
		}
	}
	return append(list, h)
}

// hazards returns the hazards of all workers, in the order of the code. A write of the
// bytes by the launch itself does not excuse a read: the read came first, since workers run
// concurrently only if none reads what another writes.
func (r *Record) hazards(all []*watcher) []Hazard {
	list := r.Hazards[:0]
	for _, v := range all {
		for _, h := range v.hazards {
			list = keepFirst(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Hazard) int { return a.Inst - b.Inst })
	return list
}

// undefinedShuffle records, in a watched launch, that a lane reads one that does not
// take part.
func (e *engine) undefinedShuffle(w *warp, in *inst, lane, source int) {
	if e.watch != nil {
		e.watch.hazard(w, Hazard{Kind: UndefinedShuffle, Inst: w.kernel.indexOf(in), Thread: w.threadAt(lane), Lane: source})
	}
}

// checkInitialised reports a load of bytes [lo, hi) of an allocation if some of them were
// written neither by the launch nor before it. The check is by words of 64 bytes; only if
// it fails are the lane and the elements determined.
func (v *watcher) checkInitialised(w *warp, in *inst, m *marks, lo, hi uint64, lane int) {
	var bad uint64
	first := hi
	eachWord(lo, hi, func(i, set uint64) {
		t := &m.words[i]
		if left := set &^ (t.written | t.atomic | m.of.valid.written[i]); left != 0 {
			bad |= left
			first = min(first, i<<6+uint64(bits.TrailingZeros64(left)))
		}
	})
	if bad == 0 {
		return
	}
	at, n := m.of.base+lo, hi-lo
	// All lanes access adjacent elements: find the lane of the first bad byte.
	if lane == wholeRow {
		lane = w.laneAt(in, m.of.base+first)
		at, n = w.address(in, lane), in.x.bytes()
	}
	h := Hazard{Kind: UninitialisedRead, Inst: w.kernel.indexOf(in), Thread: w.threadAt(lane), Address: at, Bytes: n}
	// h.Partial is set if some element of the vector has been written as a whole.
	size := min(uint64(in.x.size), n)
	for off := uint64(0); off < n; off += size {
		e := at - m.of.base + off
		whole := true
		eachWord(e, e+size, func(i, set uint64) {
			whole = whole && set&^(m.words[i].written|m.words[i].atomic|m.of.valid.written[i]) == 0
		})
		h.Partial = h.Partial || whole
	}
	v.hazard(w, h)
}
