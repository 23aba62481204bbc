package ir

import (
	"cmp"
	"math"
	"slices"
)

// arena: buffers that share bytes of the arena are temporary and used one after the other.
//
// Two sweeps treat the arena as one buffer, in submission order. The sweep uses, over turns, finds the
// conflicting uses of a byte, which lanes and waits must order. The sweep owners, over buffers in place of
// operations, finds the last buffer to write each byte: a read through another buffer is an error, since
// its contents were overwritten. It takes accesses with strides as whole ranges, so that a read of bytes between those
// that its buffer has written is an error too.
func (v *scheduleVerifier) arena() {
	if v.s.Offset == nil || !v.offsets() {
		return
	}
	v.exclusive()
	arena, size := BufferID(len(v.g.Buffers)), int64(0)
	for b, off := range v.s.Offset {
		size = max(size, off+v.g.Buffers[b].Size())
	}
	sizes := make([]int64, arena+1)
	sizes[arena] = size
	uses, owners := newSweep(len(v.turn), sizes), newSweep(len(v.g.Buffers), sizes)
	uses.strided = histories(v.g, len(sizes), func(one func([]Access)) {
		v.inArena(arena, func(_ int, _ OpID, mapped []Access, _ []BufferID) { one(mapped) })
	})
	v.inArena(arena, func(at int, id OpID, mapped []Access, of []BufferID) {
		v.own(owners, id, mapped, of)
		uses.step(int32(at), mapped)
	})
	v.sharing(uses.found)
}

// inArena calls one with each operation in submission order, its accesses to buffers in the arena, as accesses to one
// buffer, and the buffers that they are to.
func (v *scheduleVerifier) inArena(arena BufferID, one func(at int, id OpID, mapped []Access, of []BufferID)) {
	var scratch [2]Access
	var mapped []Access
	var of []BufferID
	for at, id := range v.s.Order {
		mapped, of = mapped[:0], of[:0]
		for _, a := range v.g.Ops[id].Accesses(&scratch) {
			if off := v.s.Offset[a.Buffer]; off >= 0 && !a.Empty() {
				mapped, of = append(mapped, Access{Range{arena, off + a.Lo, off + a.Hi}, a.Mode, a.Shape}), append(of, a.Buffer)
			}
		}
		one(at, id, mapped, of)
	}
}

// offsets: buffers in the arena are all in the memory of one device, and their ends do not overflow.
func (v *scheduleVerifier) offsets() bool {
	before := len(v.found)
	for b, off := range v.s.Offset {
		if off < -1 || off > math.MaxInt64-v.g.Buffers[b].Size() {
			v.add(-1, "buffer @%s has offset %d in the arena: use one that leaves room, or -1 for its own allocation", v.g.Buffers[b].Name, off)
		}
	}
	first := -1
	for b, off := range v.s.Offset {
		if off < 0 {
			continue
		}
		switch buf := &v.g.Buffers[b]; {
		case buf.Place.Kind != OnDevice:
			v.add(-1, "buffer @%s lies in the arena, which is device memory, but not on a device: give it its own allocation", buf.Name)
		case first < 0:
			first = b
		case buf.Place != v.g.Buffers[first].Place:
			v.add(-1, "buffers @%s and @%s lie in the arena, but on two devices: give one its own allocation", v.g.Buffers[first].Name, buf.Name)
		}
	}
	return len(v.found) == before
}

// exclusive: a buffer that is not temporary shares no bytes, since its contents must be kept.
//
// Buffers are visited by offset. A buffer overlaps an earlier one if that ends behind the offset of the buffer, and
// if any earlier one does, then the one that ends last does. So two are kept: of all buffers the one that ends last,
// which is compared with buffers that are not temporary, and of the buffers that are not temporary the one that ends
// last, which is compared with temporary ones. The time is O(n log n). One pair is reported for a buffer, not every
// pair.
func (v *scheduleVerifier) exclusive() {
	var placed []BufferID
	for b, off := range v.s.Offset {
		if off >= 0 && v.g.Buffers[b].Size() > 0 {
			placed = append(placed, BufferID(b))
		}
	}
	slices.SortStableFunc(placed, func(a, b BufferID) int { return cmp.Compare(v.s.Offset[a], v.s.Offset[b]) })
	end := func(b BufferID) int64 { return v.s.Offset[b] + v.g.Buffers[b].Size() }
	last, lasting := BufferID(-1), BufferID(-1) // the ones that end last, of all and of those not temporary
	for _, b := range placed {
		keeps, other := v.g.Buffers[b].Role != Temporary, lasting
		if keeps {
			other = last
		}
		if other >= 0 && end(other) > v.s.Offset[b] {
			v.add(-1, "buffers @%s and @%s share bytes of the arena, but are not both temporary: move one",
				v.g.Buffers[other].Name, v.g.Buffers[b].Name)
		}
		if last < 0 || end(b) > end(last) {
			last = b
		}
		if keeps && (lasting < 0 || end(b) > end(lasting)) {
			lasting = b
		}
	}
}

// own adds the accesses of operation id to the sweep owners. of has the buffer of each access. It reports
// reads of bytes that another buffer has written last. It also reports two buffers with common bytes in one
// operation, since the order of accesses within an operation is unknown.
func (v *scheduleVerifier) own(owners *sweep, id OpID, accesses []Access, of []BufferID) {
	for i, a := range accesses {
		for j, b := range accesses[:i] {
			if of[i] != of[j] && a.Overlaps(b.Range) && (a.Mode.Writes() || b.Mode.Writes()) {
				both := a.intersect(b.Range)
				v.add(id, "%v uses @%s and @%s, which share bytes %d to %d of the arena: move a buffer",
					id, v.g.Buffers[of[j]].Name, v.g.Buffers[of[i]].Name, both.Lo, both.Hi)
			}
		}
	}
	for i, a := range accesses {
		owners.readAs(a, int32(of[i]))
		v.overwritten(owners, id)
	}
	for i, a := range accesses {
		owners.writeAs(a, int32(of[i]))
		v.overwritten(owners, id)
	}
}

// overwritten reports the reads among the conflicts that the last step of own has found. It then clears them
// and the marks of pairs already seen, because the same two buffers may conflict again.
func (v *scheduleVerifier) overwritten(owners *sweep, id OpID) {
	for _, c := range owners.found {
		owners.seen[c.From] = -1
		if c.hazard == RAW {
			v.add(id, "%v reads @%s, which @%s has overwritten at bytes %d to %d of the arena: move a buffer",
				id, v.g.Buffers[c.To].Name, v.g.Buffers[c.From].Name, c.cause.Lo, c.cause.Hi)
		}
	}
	owners.found = owners.found[:0]
}

// sharing reports conflicts in the arena that lanes and waits, delays included, do not order.
func (v *scheduleVerifier) sharing(found []conflict) {
	for _, c := range missing(v.dag(), found) {
		u, id := v.s.Order[c.From], v.s.Order[c.To]
		v.add(id, "%v on lane %v does not wait for %v on lane %v, and both use bytes %d to %d of the arena: add wait(%v) or move a buffer",
			id, v.s.Lane[id], u, v.s.Lane[u], c.cause.Lo, c.cause.Hi, u)
	}
}
