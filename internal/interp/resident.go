package interp

import "fmt"

// Blocks in grid order run one after another, each to its end, unless a block waits for
// another, or draws work from a shared counter. In that case the next one is started, if
// the device has room, and the resident blocks take turns:
//
//	turn   block 0   block 1   block 2
//	1      waits
//	2                waits
//	3                          ends: sets the flag that the others poll
//	4      ends
//	5                ends
//
// Each has an engine of its own, so a turn costs no more than an iteration of a loop. Since
// one goroutine runs all turns, the result of a launch is the same in every run.

// Limits of waiting.
const (
	// pollLimit is the number of consecutive times that a warp may read the same value at
	// one place before it counts as waiting.
	pollLimit = 100
	// idleLimit is the number of consecutive turns in which all blocks may wait before
	// this counts as a deadlock.
	idleLimit = 10_000
)

// runInOrder runs the blocks in grid order. After a block has ended, the turn passes to the
// first resident block: it has waited longest, and the others may depend on it.
func (r *run) runInOrder() {
	r.resident, r.free = r.resident[:0], r.free[:0]
	began, idle := int64(0), 0
	for at := 0; ; {
		if at == len(r.resident) {
			if began < r.toRun && int64(len(r.resident)) < r.launch.Resident {
				r.admit(began)
				began++
			} else if at = 0; len(r.resident) == 0 {
				return
			}
		}
		e := r.resident[at]
		switch e.turn() {
		case waits:
			at++
			if idle++; idle > max(idleLimit, 2*len(r.resident)) {
				r.fault = r.deadlock(began)
				return
			}
		case busy:
			at++
			idle = 0
		case ended:
			idle = 0
			r.resident = append(r.resident[:at], r.resident[at+1:]...)
			r.free = append(r.free, e)
			at = 0
		}
		if e.fault != nil {
			r.fault = e.fault
			return
		}
	}
}

// admit starts block i.
func (r *run) admit(i int64) {
	var e *engine
	if n := len(r.free); n > 0 {
		e, r.free = r.free[n-1], r.free[:n-1]
	} else {
		e = r.engine(false)
	}
	r.resident = append(r.resident, e)
	e.begin(r.block(i))
}

// deadlock returns the fault of blocks that all wait.
func (r *run) deadlock(began int64) *Fault {
	e := r.resident[0]
	others := ""
	if n := len(r.resident) - 1; n > 0 {
		others = fmt.Sprintf(", while %s wait too", count(uint64(n), "more block"))
	}
	if n := r.toRun - began; n > 0 {
		others += fmt.Sprintf("; %s cannot begin before one ends", count(uint64(n), "block"))
	}
	return e.waitsFor(others)
}

// waitsFor returns the fault of a block that polls without end.
func (e *engine) waitsFor(others string) *Fault {
	for i := range e.warps {
		if w := &e.warps[i]; w.runnable() && w.polled != nil {
			s := &e.seen[w.polled.site]
			w.fail(Deadlock, w.polled, int(w.poller), s.addr,
				fmt.Sprintf("the thread polls %s%#x, which holds %#x and which nothing changes%s", spaceName(w.polled.x.space), s.addr, s.value, others))
			return w.fault
		}
	}
	panic("BUG: a block waits, and none of its warps polls")
}
