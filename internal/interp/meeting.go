package interp

import "fmt"

// scratchSize is the size of the registers that meet operates on: three sources and a
// result.
const scratchSize = 4 * 8 * lanes

// A warp-wide operation waits for the lanes of its member mask that have not exited. They
// may arrive at different places of the code, as hardware since compute capability 7.0
// allows, if they execute the same operation with the same mask. The lanes of one
// instruction may have several masks: the tiles of a warp synchronise separately.
//
//	synchronise                 the mask is constant, all its lanes are here:  execute at once
//	└─ execGroups               one group per mask: execute the complete ones
//	   └─ fragment waits        releaseSyncs executes when the last lane arrives
//	      └─ meet               one instruction: execute for all lanes
//	                            several: gather operands in scratch registers, execute, scatter

// synchronise ends s with a warp-wide operation, and reports whether f continues.
func (w *warp) synchronise(f *fragment, s *segment) bool {
	in := &w.kernel.code[s.last]
	live := w.taken(f, s)
	masks := view[uint32](w, in.x.members)
	// The short cut for literal masks: all members that have not exited are here, and no
	// other lane.
	if in.x.uniform && masks[0]&^w.exited&^live == 0 && live&^masks[0] == 0 {
		if w.live = live; live != 0 {
			w.execTogether(in)
		}
		f.pc = s.next
		return true
	}
	waiting := w.execGroups(in, live, masks)
	if waiting == 0 {
		f.pc = s.next
		return true
	}
	// The lanes that executed the operation, or skip it, continue in an entry of their own.
	f.isolate(waiting, s)
	group := same(waiting, masks, masks[firstLane(waiting)])
	if other := waiting &^ group; other != 0 {
		f.stack = append(f.stack, entry{f.pc, f.rpc, other})
		f.mask = group
	}
	w.split(f)
	f = &w.frags[w.current]
	f.wait, f.at, f.members = atWarpSync, s.last, masks[firstLane(group)]
	return false
}

// execGroups executes in for each group of lanes that is complete, and returns the
// lanes that must wait.
func (w *warp) execGroups(in *inst, live uint32, masks *[lanes]uint32) (waiting uint32) {
	for live != 0 {
		lane := firstLane(live)
		group := same(live, masks, masks[lane])
		live &^= group
		// A lane must be a member of its own mask.
		if out := group &^ masks[lane]; out != 0 {
			w.fail(BarrierMismatch, in, firstLane(out), 0,
				fmt.Sprintf("lane %d executes %s with the member mask %#x, which does not name it", firstLane(out), in.x.sync.name, masks[lane]))
			return group
		}
		if masks[lane]&^w.exited&^group != 0 {
			waiting |= group
			continue
		}
		w.live = group
		w.execTogether(in)
	}
	return waiting
}

// execTogether executes a warp-wide operation for the live lanes, all of which have
// arrived.
func (w *warp) execTogether(in *inst) {
	met := w.live
	in.exec(w, in)
	if w.eng.tile != nil {
		w.eng.tile.meet(w, met)
	}
}

// releaseSyncs executes warp-wide operations whose lanes have all arrived in several
// fragments, once for all of these.
func (w *warp) releaseSyncs() {
	for i := range w.frags {
		f := &w.frags[i]
		if f.wait != atWarpSync || f.members&^w.exited&^w.arrived(f) != 0 {
			continue
		}
		w.meet(f)
		for j := range w.frags {
			if g := &w.frags[j]; g != f && w.meets(f, g) {
				w.pass(g)
			}
		}
		w.pass(f)
	}
	if len(w.frags) > 1 {
		w.join()
	}
}

// pass lets a fragment continue behind the operation at which it waited.
func (w *warp) pass(f *fragment) {
	f.wait = running
	f.pc = w.kernel.segments[f.pc].next
}

// meets reports whether g waits for the same lanes as f.
func (w *warp) meets(f, g *fragment) bool {
	return g.wait == atWarpSync && g.members == f.members &&
		(g.at == f.at || w.kernel.code[g.at].x.sync.name == w.kernel.code[f.at].x.sync.name)
}

// arrived returns the lanes that wait with f.
func (w *warp) arrived(f *fragment) (m uint32) {
	for i := range w.frags {
		if g := &w.frags[i]; w.meets(f, g) {
			m |= g.mask
		}
	}
	return m
}

// syncShape describes how to execute a warp-wide operation for lanes at different
// places. Lanes with equal names synchronise with each other.
type syncShape struct {
	name          string // the opcode
	value, result int    // bytes of a and d, 0 for a predicate
}

// meet executes the operation of all fragments that wait with f. If they are at
// different instructions, it operates on operands gathered in scratch registers.
func (w *warp) meet(f *fragment) {
	in := &w.kernel.code[f.at]
	arrivedLanes := w.arrived(f)
	if w.meetsAt(f) {
		w.live = arrivedLanes
		w.execTogether(in)
		return
	}
	k := w.kernel
	operation, x := *in, *in.x
	operation.x = &x
	at := k.scratch
	reserve := func(s *slot, size int) {
		switch {
		case *s == noSlot:
		case size == 0:
			*s = k.scratchPreds
		default:
			*s, at = at, at+slot(lanes*size)
		}
	}
	reserve(&operation.a, x.sync.value)
	reserve(&operation.b, 4)
	reserve(&operation.c, 4)
	reserve(&x.p, 0)
	x.pNeg = false
	operation.d, x.d2 = at, k.scratchPreds+2 // a place may use either, both or neither
	if x.sync.result == 0 {
		operation.d = k.scratchPreds + 1
	}
	w.collect(f, &operation)
	w.live = arrivedLanes
	w.execTogether(&operation)
	w.deliver(f, &operation)
}

// meetsAt reports whether all lanes that wait with f are at one instruction.
func (w *warp) meetsAt(f *fragment) bool {
	for i := range w.frags {
		if g := &w.frags[i]; w.meets(f, g) && g.at != f.at {
			return false
		}
	}
	return true
}

// collect copies the sources of all fragments that wait with f to those of operation.
func (w *warp) collect(f *fragment, operation *inst) {
	size := operation.x.sync.value
	for i := range w.frags {
		g := &w.frags[i]
		if !w.meets(f, g) {
			continue
		}
		in := &w.kernel.code[g.at]
		each(g.mask, func(lane int) {
			w.copyLane(operation.a, in.a, size, lane)
			w.copyLane(operation.b, in.b, 4, lane)
			w.copyLane(operation.c, in.c, 4, lane)
		})
		if p := operation.x.p; p != noSlot {
			w.live = g.mask
			w.setPred(p, w.getPred(in.x.p, in.x.pNeg))
		}
	}
}

// deliver copies the results of operation to all fragments that wait with f.
func (w *warp) deliver(f *fragment, operation *inst) {
	size := operation.x.sync.result
	for i := range w.frags {
		g := &w.frags[i]
		if !w.meets(f, g) {
			continue
		}
		in := &w.kernel.code[g.at]
		w.live = g.mask
		if size == 0 && in.d != noSlot {
			w.setPred(in.d, w.preds[operation.d])
		}
		each(g.mask, func(lane int) { w.copyLane(in.d, operation.d, size, lane) })
		w.setPred(in.x.d2, w.preds[w.kernel.scratchPreds+2])
	}
}

// copyLane copies one lane of a register of size bytes, if there is one.
func (w *warp) copyLane(to, from slot, size, lane int) {
	if size > 0 && to != noSlot && from != noSlot {
		w.setLane(element{to, size}, lane, w.lane(element{from, size}, lane))
	}
}
