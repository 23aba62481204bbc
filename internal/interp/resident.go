package interp

import "fmt"

// Blocks in grid order run one after another, each to its end, unless one waits
// for another, or takes work from a counter that they share. Then the next one is
// begun, as long as the device has room, and those that are resident take turns. Each keeps its state in an engine of its
// own, so a turn costs no more than a loop's iteration, and since one goroutine
// takes all turns, what a launch leaves is the same on every run.

const (
	// pollLimit is how often in a row a warp may find at one place what it found
	// there before, until it is taken to wait.
	pollLimit = 100
	// idleLimit is how many turns in a row may pass in which all blocks only wait,
	// until they are taken to wait for each other.
	idleLimit = 10_000
)

// inOrder runs the blocks in grid order.
func (r *run) inOrder() {
	r.resident, r.free = r.resident[:0], r.free[:0]
	began, idle := int64(0), 0
	for at := 0; ; {
		if at == len(r.resident) {
			if began < r.runs && int64(len(r.resident)) < r.launch.Resident {
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

// admit begins block i.
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

// deadlock is the fault of blocks that all wait.
func (r *run) deadlock(began int64) *Fault {
	e := r.resident[0]
	others := ""
	if n := len(r.resident) - 1; n > 0 {
		others = fmt.Sprintf(", while %s wait too", count(uint64(n), "more block"))
	}
	if n := r.runs - began; n > 0 {
		others += fmt.Sprintf("; %s cannot begin before one ends", count(uint64(n), "block"))
	}
	return e.waitsFor(others)
}

// waitsFor is the fault of a block that polls for ever.
func (e *engine) waitsFor(others string) *Fault {
	for i := range e.warps {
		if w := &e.warps[i]; w.runnable() && w.polled != nil {
			s := &e.seen[w.polled.site]
			w.fail(Deadlock, w.polled, int(w.poller), s.addr,
				fmt.Sprintf("the thread polls %s%#x, which holds %#x and which nothing changes%s", spaceName(w.polled.x.space), s.addr, s.value, others))
			return w.fault
		}
	}
	panic("BUG: a block waits of which no warp polls")
}
