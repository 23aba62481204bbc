package interp

// A block that waits for another reads memory until it changes. A warp polls if a load of
// memory that others can change returns the value that it returned the last time, or if an
// atomic operation changes nothing. It stops polling as soon as it stores. After pollLimit
// such accesses the warp counts as waiting, and another block gets the turn.

// sighting is the last address and value of an access site.
type sighting struct{ addr, value uint64 }

// withPolling wraps a load by which a block may observe another's progress.
func withPolling(load handler) handler {
	return func(w *warp, in *inst) {
		lane := firstLane(w.live)
		addr := w.address(in, lane)
		load(w, in)
		e := in.x.elems[0]
		if e.reg == noSlot {
			e.reg = in.d
		}
		if e.reg != noSlot {
			w.observe(in, lane, sighting{addr, w.lane(e, lane)})
		}
	}
}

// observe records the result of an access.
func (w *warp) observe(in *inst, lane int, s sighting) {
	// The value, or the address, differs from that of the last access at this site.
	if last := &w.eng.seen[in.site]; *last != s {
		*last = s
		w.polls = 0
		return
	}
	w.polls++
	w.polled, w.poller = in, int32(lane)
}
