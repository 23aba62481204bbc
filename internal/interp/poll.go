package interp

// A block that waits for another looks at memory until it finds it changed. So
// a warp polls when a load that others can influence finds at its address what it
// found there the last time, or when an atomic operation changes nothing, and it
// no longer does as soon as it stores.

// sighting is what an access site found the last time.
type sighting struct{ addr, value uint64 }

// watched is a load through which a block may see another's progress.
func watched(load handler) handler {
	return func(w *warp, in *inst) {
		lane := firstLane(w.live)
		addr := w.address(in, lane)
		load(w, in)
		e := in.x.elems[0]
		if e.reg == noSlot {
			e.reg = in.d
		}
		if e.reg != noSlot {
			w.look(in, lane, sighting{addr, w.lane(e, lane)})
		}
	}
}

// look notes what an access found.
func (w *warp) look(in *inst, lane int, s sighting) {
	if last := &w.eng.seen[in.site]; *last != s {
		*last = s
		w.polls = 0
		return
	}
	w.polls++
	w.polled, w.poller = in, int32(lane)
}
