package optimizer

import (
	"github.com/reprise-gpu/reprise/ir"
)

// relane sets the waits of a schedule whose lanes and order say what runs before what, and
// finds lanes that say the same with fewer waits, as nimble does for dependencies. The lanes
// stay when those would be more, or wait more often.
func relane(s *ir.Schedule) {
	d := leastOrdered(s)
	s.Waits = crossing(s, d)

	a := assignment{lane: make([]ir.LaneID, s.Graph.Len()), order: s.Order}
	for i, c := range (nimble{maxJoinBits, maxMergedChains}).chains(d) {
		for _, r := range c {
			a.lane[s.Order[r]] = ir.LaneID(i)
		}
	}
	other := *s
	other.Lane, other.Lanes = renumbered(a)
	if other.Waits = crossing(&other, d); other.Lanes <= s.Lanes && other.Syncs() <= s.Syncs() {
		*s = other
	}
}
