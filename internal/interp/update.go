package interp

import "unsafe"

// update is an atomic operation on global memory whose result nobody reads.
// Blocks that run side by side put them down, and they are applied when all
// blocks have ended, in grid order: float sums are then the same on every run.
type update struct {
	cell unsafe.Pointer
	in   *inst
	b, c uint64
}

// updateSpan says which block put down an engine's updates up to end.
type updateSpan struct {
	block int64
	end   int
}

// maxUpdates bounds what an engine puts down, at 32 bytes each.
const maxUpdates = 1 << 20

// putDown puts an update down.
func (e *engine) putDown(u update) {
	if len(e.updates) == maxUpdates {
		e.run.abandon()
		return
	}
	e.updates = append(e.updates, u)
}

// endUpdates closes the span of a block that has ended.
func (e *engine) endUpdates(block int64) {
	n := len(e.spans)
	if start := e.spanStart(n); start < len(e.updates) {
		e.spans = append(e.spans, updateSpan{block, len(e.updates)})
	}
}

// spanStart is where the i-th span begins.
func (e *engine) spanStart(i int) int {
	if i == 0 {
		return 0
	}
	return e.spans[i-1].end
}

// applyUpdates merges the engines' updates by block; each engine's are in order.
func (r *run) applyUpdates() {
	for {
		var next *engine
		for _, e := range r.engines {
			if e.applied < len(e.spans) && (next == nil || e.spans[e.applied].block < next.spans[next.applied].block) {
				next = e
			}
		}
		if next == nil {
			return
		}
		next.apply()
	}
}

// apply applies the next span.
func (e *engine) apply() {
	for _, u := range e.updates[e.spanStart(e.applied):e.spans[e.applied].end] {
		n := u.in.x.size
		writeCell(u.cell, n, u.in.x.op(readCell(u.cell, n), u.b, u.c))
	}
	e.applied++
}
