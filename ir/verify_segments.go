package ir

// segments divide Order completely at each granularity. The ends of pieces ascend, those of a coarser granularity are among
// those of the finer one, and limits do not descend. A piece does not end within a group of joined operations, which
// are launched together. That the operations up to an end are closed under predecessors follows from the rules order, lanes and
// waits.
func (v *scheduleVerifier) segments() {
	inner := v.withinGroups()
	finer := make([]bool, len(v.s.Order)+1) // by end: whether a piece of the finer granularity has it
	for i, level := range v.s.Segments {
		if i > 0 && level.Limit < v.s.Segments[i-1].Limit {
			v.add(-1, "segments with limit %dns follow those with limit %dns: list the finest first", level.Limit, v.s.Segments[i-1].Limit)
		}
		end, ends := 0, make([]bool, len(finer))
		for _, piece := range level.Pieces {
			if v.piece(end, piece.End, inner) && i > 0 && !finer[piece.End] {
				last := v.s.Order[piece.End-1]
				v.add(last, "a piece ends with %v, where no piece of the finer granularity ends: end it with one", last)
			}
			end = piece.End
			ends[min(max(end, 0), len(v.s.Order))] = true
		}
		finer = ends
		if end != len(v.s.Order) {
			v.add(-1, "the segments with limit %dns end after %d of %d operations: end the last piece with the last operation", level.Limit, end, len(v.s.Order))
		}
	}
}

// piece checks a piece that begins after from operations and ends after end. It reports whether the end exists.
func (v *scheduleVerifier) piece(from, end int, inner []bool) bool {
	if end < 1 || end > len(v.s.Order) {
		v.add(-1, "a piece ends after %d of %d operations", end, len(v.s.Order))
		return false
	}
	last := v.s.Order[end-1]
	switch {
	case end <= from:
		v.add(last, "the piece up to %v ends before it begins: list pieces in the order of turns", last)
	case inner[end-1]:
		v.add(last, "a piece ends with %v, within a group of joined operations: end it before or after the group", last)
	}
	return true
}

// withinGroups reports, by turn, whether a joined operation with a later turn belongs to a group that
// began at or before it.
func (v *scheduleVerifier) withinGroups() []bool {
	within := make([]bool, len(v.s.Order))
	if v.s.Joined == nil {
		return within
	}
	last := make([]int, v.s.Lanes)
	for at, id := range v.s.Order {
		lane := v.s.Lane[id]
		for i := last[lane]; v.s.Joined[id] && i < at; i++ {
			within[i] = true
		}
		last[lane] = at
	}
	return within
}
