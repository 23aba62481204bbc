package interp

import "unsafe"

// update is an atomic operation on global memory whose result is not used. Concurrent
// blocks log updates, which are applied in grid order when all blocks have ended. Float
// sums are therefore the same in every run:
//
//	engine 0   block 0: u1 u2 │ block 1: u3 │ block 4: u7
//	engine 1   block 2: u4    │ block 3: u5 u6
//	applied    u1 u2 u3 u4 u5 u6 u7
type update struct {
	cell unsafe.Pointer
	in   *inst
	b, c uint64
}

// updateSpan is the block that logged an engine's updates up to end.
type updateSpan struct {
	block int64
	end   int
}

// maxUpdates bounds the log of an engine, at 32 bytes per update.
const maxUpdates = 1 << 20

// logUpdate appends an update to the log. A full log abandons the attempt to run blocks
// concurrently.
func (e *engine) logUpdate(u update) {
	if len(e.updates) == maxUpdates {
		e.run.abandon()
		return
	}
	e.updates = append(e.updates, u)
}

// endUpdates ends the span of a block.
func (e *engine) endUpdates(block int64) {
	n := len(e.spans)
	if start := e.spanStart(n); start < len(e.updates) {
		e.spans = append(e.spans, updateSpan{block, len(e.updates)})
	}
}

// spanStart returns the start of span i.
func (e *engine) spanStart(i int) int {
	if i == 0 {
		return 0
	}
	return e.spans[i-1].end
}

// applyUpdates applies the engines' logs in grid order, as a merge by block. Each log is in
// grid order, and a block is in one log only.
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
