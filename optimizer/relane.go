package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// relaned returns one or two schedules with the order of s and only the waits that dependencies require.
// The first has the lanes of s, or lanes with fewer waits that imply the same order: those that nimble
// computes from lanes and dependencies together. If such lanes would need a wait only to preserve the
// order of an old lane, the first schedule keeps the lanes of s, and the second has the new lanes
// without that wait. It orders less.
//
//	old lanes  a ─► b ─► d      b depends on nothing, d and e on b     second  a   b ─► d
//	           c ─► e           (the order of a before b is the lane's)        c ─► e
func relaned(s *ir.Schedule) []ir.Schedule {
	d := leastOrdered(s)
	first := *s
	first.Waits = crossing(s, d, nil)

	a := assignment{lane: make([]ir.LaneID, s.Graph.Len()), order: s.Order}
	for i, c := range (nimble{dense.MaxJoinBits, dense.MaxMergedChains}).chains(d) {
		for _, r := range c {
			a.lane[s.Order[r]] = ir.LaneID(i)
		}
	}
	other := *s
	other.Lane, other.Lanes = renumbered(a)
	all := crossing(&other, d, nil)
	other.Waits = crossing(&other, leastOrdered(&other), nil)
	switch {
	case other.Lanes > first.Lanes || other.Syncs() > first.Syncs():
		return []ir.Schedule{first}
	case slices.EqualFunc(all, other.Waits, slices.Equal):
		return []ir.Schedule{other}
	}
	return []ir.Schedule{first, other}
}
