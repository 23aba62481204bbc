package timeline

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Wait is an operation that ran after another one on another lane, because the schedule has a wait.
type Wait struct {
	From, To int  // indices in Spans
	Delay    bool // no dependency requires it
}

// Waits returns the waits of the whole schedule between operations that ran, in order of To, then From. An operation
// without work has no span: what waits for it waits for its own predecessors. Waits inside bodies are left out.
func (t *Timeline) Waits() (all []Wait) {
	span := make([]int, t.Schedule.Graph.Len())
	for v := range span {
		span[v] = -1
	}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Path == "" && (span[s.Op] < 0 || s.Engine != Decision) {
			span[s.Op] = i
		}
	}
	preds := ran(t.Schedule, span)
	for v, into := range t.Schedule.Waits {
		if span[v] < 0 {
			continue
		}
		var from []ir.OpID
		for _, u := range into {
			from = append(from, preds(u)...)
		}
		slices.Sort(from)
		for _, u := range slices.Compact(from) {
			if t.Schedule.Lane[u] != t.Schedule.Lane[v] {
				all = append(all, Wait{span[u], span[v], isDelay(t.Schedule, u, ir.OpID(v))})
			}
		}
	}
	slices.SortFunc(all, func(a, b Wait) int {
		if a.To != b.To {
			return a.To - b.To
		}
		return a.From - b.From
	})
	return all
}

// ran returns a function that returns an operation itself if it has a span, and else its last predecessors that have.
func ran(s *ir.Schedule, span []int) func(ir.OpID) []ir.OpID {
	before := make([]ir.OpID, len(s.Order)) // on the same lane; -1 for none
	last := slices.Repeat([]ir.OpID{-1}, s.Lanes)
	for _, v := range s.Order {
		before[v], last[s.Lane[v]] = last[s.Lane[v]], v
	}
	var of func(ir.OpID) []ir.OpID
	of = func(v ir.OpID) (all []ir.OpID) {
		if span[v] >= 0 {
			return []ir.OpID{v}
		}
		if before[v] >= 0 {
			all = of(before[v])
		}
		for _, u := range s.Waits[v] {
			all = append(all, of(u)...)
		}
		return all
	}
	return of
}

func isDelay(s *ir.Schedule, u, v ir.OpID) bool {
	return s.Delays != nil && slices.Contains(s.Delays[v], u)
}
