package interp

import (
	"math/bits"
	"strings"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// sharedWatch detects races within a block: accesses of two threads to the same bytes of
// shared memory, at least one of them a store, that neither a barrier nor a warp-wide
// operation orders. Lockstep execution of a warp's lanes does not count as order: since
// compute capability 7.0 the hardware does not guarantee it.
//
// The algorithm is FastTrack (Flanagan & Freund, "FastTrack: Efficient and Precise Dynamic
// Race Detection", PLDI 2009). Each warp has a vector clock: its own clock advances when it
// synchronises, and known[w][u] is the time up to which accesses of warp u come before
// those of w. A cell of shared memory stores the last store and the last load by each warp:
//
//	           clock   known            store s[0]              load s[0] by warp 1
//	warp 0     5       [-, 3]           stamp {time 5, warp 0}
//	warp 1     4       [2, -]                                   5 > known[1][0] = 2: a race
//	barrier    both publish their clocks and join them
//	warp 1     5       [5, -]                                   5 <= 5: ordered
//
// Clocks continue from block to block, so nothing needs to be cleared: accesses before the
// start of a block are older than its floor.
//
// Volatile and atomic accesses do not race with each other. Those by which code can wait
// for other threads also order warps, since locks consist of them: volatile loads and
// stores, exchanges, and atomic operations whose result is used. This misses some races,
// and reports no lock as a race. A plain load does not race with a compare-and-swap: loops
// around a compare-and-swap begin with one, and a stale value only costs another iteration.
type sharedWatch struct {
	size  uint64
	shift uint // log2 of the bytes of a cell: the least that the kernel accesses
	warps int
	cells []cell
	loads []stamp // by cell and warp
	clock []uint32
	known []uint32 // by warp and warp: accesses of the second up to this time come before the first
	floor uint32   // the clock at the start of this block
	gone  []uint32 // the clocks known to the warps that have exited
	meets [maxBarriers + 1][]uint32
	lanes []laneOrder      // by warp
	locks map[int][]uint32 // by cell: the clocks known to the warps that synchronised through it
}

// cell is the state of a few bytes.
type cell struct {
	store   stamp
	loaders uint32 // warps that loaded since that store
}

// laneOrder is the order between the lanes of a warp: all of them up to a time, and
// some pairs up to a later time, if only a part of the warp has synchronised.
type laneOrder struct {
	all   uint32
	pairs *[lanes][lanes]uint32
}

// stamp is an access, packed into 64 bits:
//
//	63 … 32   31 … 12       11 … 7                 6 … 2   1      0
//	time      instruction   warp, or second lane   lane    many   strong
//
// The warp of a load follows from its position, so that its field holds a second lane if
// several lanes loaded (many). strong is set for atomic and volatile accesses.
type stamp uint64

// The units of the fields.
const (
	stampStrong stamp = 1
	stampMany   stamp = 1 << 1
	stampLane   stamp = 1 << 2
	stampWarp   stamp = 1 << 7
	stampInst   stamp = 1 << 12
	stampTime   stamp = 1 << 32
)

// time returns the clock of the warp at the access.
func (s stamp) time() uint32 { return uint32(s >> 32) }

// lane returns the lane, for a load by several the last one.
func (s stamp) lane() int { return int(s/stampLane) & 31 }

// warp returns the warp of a store.
func (s stamp) warp() int { return int(s/stampWarp) & 31 }

// second returns the second lane of a load with stampMany.
func (s stamp) second() int { return int(s/stampWarp) & 31 }

// inst returns the index of the instruction.
func (s stamp) inst() int { return int(uint32(s) >> 12) }

// prepare initialises the watch for a launch of e's kernel. Cells of earlier launches
// are older than the floor, but their layout depends on the number of warps.
func (v *sharedWatch) prepare(e *engine, size uint64) {
	v.shift, v.size = e.kernel.minSharedAccess(), size
	if v.warps != len(e.warps) {
		v.warps = len(e.warps)
		clear(v.cells)
		clear(v.loads)
	}
	n := int(size>>v.shift) + 1
	v.cells, v.loads = extended(v.cells, n), extended(v.loads, n*v.warps)
	v.clock, v.lanes = extended(v.clock, v.warps), extended(v.lanes, v.warps)
	v.gone, v.known = resized(v.gone, v.warps), resized(v.known, v.warps*v.warps)
	for i := range v.meets {
		v.meets[i] = resized(v.meets[i], v.warps)
	}
}

// watchShared enables or disables the detection of races in shared memory.
func (e *engine) watchShared(enabled bool) {
	if size := uint64(e.kernel.sharedStatic) + uint64(e.launch.Shared); enabled && size > 0 {
		e.tile = &e.ownTile
		e.tile.prepare(e, size)
	}
}

// extended returns s with at least n elements; new ones are zero.
func extended[T any](s []T, n int) []T {
	if len(s) < n {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}

// minSharedAccess returns log2 of the smallest access that may reach shared memory.
func (k *Kernel) minSharedAccess() uint {
	least := uint(3)
	for i := range k.code {
		x := k.code[i].x
		if x == nil || x.space != ptx.Shared && x.space != ptx.Generic && x.async == nil {
			continue
		}
		switch {
		case x.matrix != nil:
			return 0 // an element may be a byte
		case x.memory:
			least = min(least, uint(bits.TrailingZeros(uint(x.size))))
		}
	}
	return least
}

// begin starts a block, which comes after everything before it.
func (v *sharedWatch) begin() {
	last := v.floor
	for _, t := range v.clock {
		last = max(last, t)
	}
	// Clocks have 32 bits. Half of the range is enough for one block.
	if last > 1<<31 {
		last = 0
		clear(v.cells)
		clear(v.loads)
	}
	v.floor = last + 1
	for w := range v.clock {
		v.clock[w], v.lanes[w].all = v.floor, last
	}
	for w := range v.lanes {
		if p := v.lanes[w].pairs; p != nil {
			*p = [lanes][lanes]uint32{}
		}
	}
	clear(v.known)
	clear(v.gone)
	for i := range v.meets {
		clear(v.meets[i])
	}
	clear(v.locks)
}

// knownBy returns row w of known, by warp.
func (v *sharedWatch) knownBy(w int) []uint32 { return v.known[w*v.warps : (w+1)*v.warps] }

// join raises each clock of the first list to that of the second.
func join(to, from []uint32) {
	for i, t := range from {
		to[i] = max(to[i], t)
	}
}

// publish joins the clocks that warp w knows into a clock, and advances w's own clock.
// Accesses that w makes later are therefore not ordered by this synchronisation.
func (v *sharedWatch) publish(to []uint32, w int) {
	join(to, v.knownBy(w))
	to[w] = max(to[w], v.clock[w])
	v.clock[w]++
}

// arrive records that warp w has reached a barrier.
func (v *sharedWatch) arrive(w uint32, id int32) { v.publish(v.meets[id], int(w)) }

// pass lets a warp continue after a barrier. For a barrier of all threads, those that
// have exited count as arrived.
func (v *sharedWatch) pass(warp uint32, id int32, all bool) {
	w := int(warp)
	join(v.knownBy(w), v.meets[id])
	if all {
		join(v.knownBy(w), v.gone)
	}
	v.lanes[w].all = v.clock[w] - 1
}

// complete resets a barrier for its next use.
func (v *sharedWatch) complete(id int32) { clear(v.meets[id]) }

// leave records that lanes of a warp have exited.
func (v *sharedWatch) leave(w uint32) { v.publish(v.gone, int(w)) }

// meet orders the lanes of a warp that synchronised in a warp-wide operation.
func (v *sharedWatch) meet(w *warp, mask uint32) {
	o, now := &v.lanes[w.index], v.clock[w.index]
	v.clock[w.index]++
	// All lanes that exist took part: one number describes the order.
	if mask|w.exited == allLanes {
		o.all = now
		return
	}
	if o.pairs == nil {
		o.pairs = &[lanes][lanes]uint32{}
	}
	var all [lanes]uint32
	each(mask, func(i int) { join(all[:], o.pairs[i][:]) })
	each(mask, func(i int) { all[i] = now })
	each(mask, func(i int) { o.pairs[i] = all })
}

// ordered reports whether an access of this block, by warp u, comes before the current
// access of a lane of warp w.
func (v *sharedWatch) ordered(s stamp, u, w, lane int) bool {
	switch {
	case u != w:
		return s.time() <= v.known[w*v.warps+u]
	case s.time() <= v.lanes[w].all:
		return true
	case s&stampMany == 0:
		return v.laneOrdered(s, w, s.lane(), lane)
	}
	return v.laneOrdered(s, w, s.lane(), lane) && v.laneOrdered(s, w, s.second(), lane)
}

// laneOrdered reports whether an access by another lane of warp w comes before the current
// one of a lane.
func (v *sharedWatch) laneOrdered(s stamp, w, other, lane int) bool {
	p := v.lanes[w].pairs
	return other == lane || p != nil && s.time() <= p[lane][other]
}

// access checks and records an access of all live lanes.
func (v *sharedWatch) access(w *warp, in *inst) {
	x, n := in.x, in.x.bytes()
	s := v.stamp(w, in)
	if x.space == ptx.Shared && x.addr32 && x.kind == loads && !x.synchronises && n == 1<<v.shift {
		v.loadRow(w, in, s)
		return
	}
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		v.accessLane(w, in, lane, w.address(in, lane), n, s)
	}
}

// stamp returns the fields that all lanes of an access share, without the time.
func (v *sharedWatch) stamp(w *warp, in *inst) stamp {
	s := stamp(w.kernel.indexOf(in)) * stampInst
	if in.x.strong {
		s |= stampStrong
	}
	return s
}

// loadRow is accessLane for each live lane, in the most frequent case of inner loops: loads
// of a cell that was stored before the last barrier.
func (v *sharedWatch) loadRow(w *warp, in *inst, s stamp) {
	me := int(w.index)
	all := v.lanes[me].all
	// safe is the least time up to which the stores of every warp come before this load.
	safe := all // stores from the floor up to this time are ordered, of any warp
	for u, t := range v.knownBy(me) {
		if u != me {
			safe = min(safe, t)
		}
	}
	a, imm, n := view[uint32](w, in.a), uint32(in.imm), uint64(1)<<v.shift
	s += stamp(v.clock[me]) * stampTime
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		at := uint64(a[lane] + imm)
		if at > v.size || n > v.size-at || at&(n-1) != 0 {
			return // a fault
		}
		c, mine := int(at>>v.shift), s+stamp(lane)*stampLane
		e := &v.cells[c]
		if t := e.store.time(); t < v.floor || t > safe {
			v.load(w, in, lane, c, at, mine)
			continue
		}
		last := &v.loads[c*v.warps+me]
		if e.loaders>>me&1 != 0 && last.time() > all {
			mine = mergeLoads(mine, *last)
		}
		*last = mine
		e.loaders |= 1 << me
	}
}

// mergeLoads returns the stamp of two unordered loads by a warp.
func mergeLoads(s, old stamp) stamp {
	if old.lane() == s.lane() {
		return s
	}
	return s&(old|^stampStrong) | stampMany + stamp(old.lane())*stampWarp
}

// accessLane checks and records an access of a lane to n bytes, cell by cell. s is its
// stamp without lane and time.
func (v *sharedWatch) accessLane(w *warp, in *inst, lane int, at, n uint64, s stamp) {
	x := in.x
	switch x.space {
	case ptx.Shared:
	case ptx.Generic:
		at -= sharedWindow
	default:
		return
	}
	if at > v.size || n > v.size-at {
		return // other memory, or a fault
	}
	s += stamp(lane) * stampLane
	for c := int(at >> v.shift); c <= int((at+n-1)>>v.shift); c++ {
		if x.synchronises {
			v.acquire(w, c)
		}
		now := s + stamp(v.clock[w.index])*stampTime
		if x.kind == loads {
			v.load(w, in, lane, c, at, now)
		} else {
			v.store(w, in, lane, c, at, now+stamp(w.index)*stampWarp)
		}
		if x.synchronises {
			v.release(w, c)
		}
	}
}

// asyncStore records that an asynchronous copy of a lane stores its bytes.
func (v *sharedWatch) asyncStore(w *warp, c *asyncCopy) {
	s := stamp(v.clock[w.index])*stampTime + stamp(w.kernel.indexOf(c.inst))*stampInst + stamp(c.lane)*stampLane + stamp(w.index)*stampWarp
	for i := int(c.dst) >> v.shift; i <= (int(c.dst)+c.size-1)>>v.shift; i++ {
		v.store(w, c.inst, c.lane, i, uint64(c.dst), s)
	}
}

// acquire orders the warp after those that released the cell.
func (v *sharedWatch) acquire(w *warp, c int) {
	if known, ok := v.locks[c]; ok {
		join(v.knownBy(int(w.index)), known)
		v.lanes[w.index].all = max(v.lanes[w.index].all, v.locks[c][w.index])
	}
}

// release orders the warp before those that acquire the cell.
func (v *sharedWatch) release(w *warp, c int) {
	if v.locks == nil {
		v.locks = map[int][]uint32{}
	}
	if v.locks[c] == nil {
		v.locks[c] = make([]uint32, v.warps)
	}
	v.publish(v.locks[c], int(w.index))
}

// load checks a load of cell c against the last store, and records it.
func (v *sharedWatch) load(w *warp, in *inst, lane, c int, at uint64, s stamp) {
	e, me := &v.cells[c], int(w.index)
	wrote := e.store
	if wrote.time() < v.floor {
		v.uninitialised(w, in, lane, at)
	} else if wrote&s&stampStrong == 0 && !v.ordered(wrote, wrote.warp(), me, lane) && !w.kernel.code[wrote.inst()].x.swaps() {
		v.race(w, in, wrote, wrote.warp(), lane, at)
	}
	mine := &v.loads[c*v.warps+me]
	if old := *mine; e.loaders>>me&1 != 0 && old.time() > v.lanes[me].all {
		s = mergeLoads(s, old)
	}
	*mine = s
	e.loaders |= 1 << me
}

// store checks a store or update of cell c against the last store and the last load
// by each warp, and makes it the last store. Strong accesses do not race with each
// other, and a store of the value that memory already contains races with no store.
func (v *sharedWatch) store(w *warp, in *inst, lane, c int, at uint64, s stamp) {
	e, me := &v.cells[c], int(w.index)
	wrote := e.store
	if wrote.time() >= v.floor {
		// Two strong accesses do not race.
		if wrote&s&stampStrong == 0 && !v.ordered(wrote, wrote.warp(), me, lane) && !w.storesSame(in, lane, at, wrote) {
			v.race(w, in, wrote, wrote.warp(), lane, at)
		}
	} else if in.x.kind == updates && !in.x.ignoresOld {
		v.uninitialised(w, in, lane, at)
	}
	for m := e.loaders; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		read := v.loads[c*v.warps+u]
		if read.time() >= v.floor && read&s&stampStrong == 0 && !v.ordered(read, u, me, lane) && !in.x.swaps() {
			v.race(w, in, read, u, lane, at)
		}
	}
	e.store, e.loaders = s, 0
}

// fills reports an access that writes shared memory.
func (x *extra) fills() bool { return x.kind != loads || x.async != nil }

// swaps reports a compare-and-swap.
func (x *extra) swaps() bool { return strings.HasPrefix(x.atomic, "cas") }

// uninitialised reports a load of bytes that the block has not stored.
func (v *sharedWatch) uninitialised(w *warp, in *inst, lane int, at uint64) {
	w.eng.watch.hazard(w, Hazard{
		Kind: UninitialisedShared, Inst: w.kernel.indexOf(in), Thread: w.threadAt(lane), Address: at, Bytes: in.x.bytes(),
	})
}

// race reports a race between an access of warp u and the current one of a lane of w.
func (v *sharedWatch) race(w *warp, in *inst, earlier stamp, u, lane int, at uint64) {
	other := earlier.lane()
	if u == int(w.index) && other == lane {
		other = earlier.second()
	}
	k := w.kernel
	w.eng.watch.hazard(w, Hazard{
		Kind: SharedRace, Inst: k.indexOf(in), Stores: in.x.fills(), Thread: w.threadAt(lane),
		Other: earlier.inst(), OtherStores: k.code[earlier.inst()].x.fills(), OtherThread: w.eng.threadAt(u*lanes + other),
		Address: at, Bytes: in.x.bytes(),
	})
}

// storesSame reports whether a store does not change memory, so that the order of the
// two does not matter: for example threads that all set one flag.
func (w *warp) storesSame(in *inst, lane int, at uint64, other stamp) bool {
	if in.x.kind != stores || len(in.x.elems) != 1 {
		return false
	}
	if other.warp() == int(w.index) && other.inst() == w.kernel.indexOf(in) && other.lane() != lane && w.live>>other.lane()&1 != 0 &&
		w.address(in, other.lane()) == w.address(in, lane) { // in the same instruction, not yet executed
		return w.stored(in, lane) == w.stored(in, other.lane())
	}
	size := in.x.size
	return readCell(unsafe.Add(w.shared, uintptr(at)), size) == w.stored(in, lane)
}

// stored is the value that a lane stores.
func (w *warp) stored(in *inst, lane int) uint64 {
	e := in.x.elems[0]
	if e.reg == noSlot {
		e.reg = in.d
	}
	v := w.lane(e, lane)
	if in.x.size < 8 {
		v &= 1<<(8*in.x.size) - 1
	}
	return v
}
