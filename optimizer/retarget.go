package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// retargets returns the schedules in which one wait is moved: to the next operation of the lane it waits
// for, or to the previous operation of its own lane. One end of the wait then continues a chain,
// which is cheaper to launch:
//
//	a ─► b ─► c                     a ─► b ─► c
//	     │                    ==>             │
//	d ───┴──► e                     d ────────┴► e
//
// Here b had two successors and now has one. Both moves order more than before. This costs nothing
// if c ends before d, or if d is not ready before b ends.
func (f *foldSearch) retargets(s *ir.Schedule) (all []ir.Schedule) {
	rank := make([]int, len(s.Order))
	next, last := make([]ir.OpID, len(s.Order)), make([]ir.OpID, len(s.Order)) // by operation: its neighbours on its lane, -1 for none
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

// rewaited returns s with a wait of w for n instead of the wait of v for u, and without waits that are now implied:
// two waits become one if another wait existed between the same lanes.
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

// drop removes waits that other waits and the order within lanes imply.
func drop(s *ir.Schedule) {
	rank := make([]int32, len(s.Order))
	for r, v := range s.Order {
		rank[v] = int32(r)
	}
	var edges []dense.Edge
	preds := schedules.Predecessors(s)
	for r, v := range s.Order {
		for _, u := range preds[v] {
			edges = append(edges, dense.Edge{rank[u], int32(r)})
		}
	}
	d := dense.NewGraph(len(s.Order), edges)
	s.Waits = crossing(s, d, d.Reduce().Redundant)
}
