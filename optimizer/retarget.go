package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// retargets are the schedules in which one wait is for the next operation on the lane it
// waits for, or is that of the operation before on its own lane. What is waited for then
// continues a chain, or who waits does, which is cheaper to launch:
//
//	a ─► b ─► c                     a ─► b ─► c
//	     │                    ==>             │
//	d ───┴──► e                     d ────────┴► e
//
// Here b had two successors and has one. Both order more than before, which costs nothing
// where c is done before d, or d is not ready before b is.
func (f *folder) retargets(s *ir.Schedule) (all []ir.Schedule) {
	rank := make([]int, len(s.Order))
	next, last := make([]ir.OpID, len(s.Order)), make([]ir.OpID, len(s.Order)) // by operation: on its lane, -1 for none
	for r, v := range s.Order {
		rank[v], next[v], last[v] = r, -1, -1
	}
	for _, lane := range byLane(s) {
		for i, v := range lane[1:] {
			next[lane[i]], last[v] = v, lane[i]
		}
	}
	try := func(c ir.Schedule) {
		if f.fresh(&c) {
			all = append(all, c)
		}
	}
	for i, waits := range s.Waits {
		v := ir.OpID(i)
		for _, u := range waits {
			if n := next[u]; n >= 0 && rank[n] < rank[v] {
				try(rewaited(s, u, v, n, v))
			}
			if l := last[v]; l >= 0 && rank[u] < rank[l] {
				try(rewaited(s, u, v, u, l))
			}
		}
	}
	return all
}

// rewaited is s with w waiting for n instead of v for u, and without the waits that this implies:
// two become one where another wait was between the same lanes.
func rewaited(s *ir.Schedule, u, v, n, w ir.OpID) ir.Schedule {
	c := *s
	c.Waits = slices.Clone(s.Waits)
	c.Waits[v] = slices.DeleteFunc(slices.Clone(c.Waits[v]), func(x ir.OpID) bool { return x == u })
	if !slices.Contains(c.Waits[w], n) {
		c.Waits[w] = append(slices.Clone(c.Waits[w]), n)
		slices.Sort(c.Waits[w])
	}
	drop(&c)
	return c
}

// drop leaves out waits that others imply, with the order within lanes.
func drop(s *ir.Schedule) {
	rank := make([]int32, len(s.Order))
	for r, v := range s.Order {
		rank[v] = int32(r)
	}
	var edges []dense.Edge
	preds := predecessors(s)
	for r, v := range s.Order {
		for _, u := range preds[v] {
			edges = append(edges, dense.Edge{rank[u], int32(r)})
		}
	}
	d := dense.NewGraph(len(s.Order), edges)
	s.Waits = crossing(s, d, d.Reduce().Redundant)
}
