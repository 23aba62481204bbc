package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// splice makes a lane continue with an operation that waits for it, if a replay over streams is predicted
// to end sooner. A predecessor on the same lane delays an operation by less than an event
// does. Therefore the predecessor that ends last should be on the same lane:
//
//	long ──────────┐                  long ──────────► join
//	short ─► short ┴► join    ==>     short ─► short ──┘
//
// Nimble counts waits, and both schedules have one. Which is better depends on times, which in turn depend on
// when the host enqueues. There are no more lanes and waits than before, and no new dependencies. Graphs have
// no lanes and are not changed.
func splice(s *ir.Schedule, opts *Options) error {
	if opts.settled || !opts.Streams || s.Graph.Len() > maxFolded {
		return nil
	}
	f, err := newFoldSearch(s.Graph, opts)
	if err != nil {
		return nil // the pass predict reports the error
	}
	limit := f.outlook(s)
	f.descend(s, &limit, f.splices)
	return nil
}

// splices returns the schedules in which an operation continues the lane of an operation that it waits for.
// The operations that followed there continue the lane that it leaves.
func (f *foldSearch) splices(s *ir.Schedule) (all []ir.Schedule) {
	lanes := byLane(s)
	for i, waits := range s.Waits {
		v := ir.OpID(i)
		at := slices.Index(lanes[s.Lane[v]], v)
		for _, u := range waits {
			next := slices.Index(lanes[s.Lane[u]], u) + 1
			if at > 0 && next < len(lanes[s.Lane[u]]) {
				continue // both lanes would be extended by unrelated operations
			}
			a := assignment{lane: slices.Clone(s.Lane), order: s.Order}
			for _, w := range lanes[s.Lane[v]][at:] {
				a.lane[w] = s.Lane[u]
			}
			for _, w := range lanes[s.Lane[u]][next:] {
				a.lane[w] = s.Lane[v]
			}
			all = f.regroup(all, s, a)
		}
	}
	return all
}

// regroup adds to all the schedule s with other lanes, unless those need more waits.
func (f *foldSearch) regroup(all []ir.Schedule, s *ir.Schedule, a assignment) []ir.Schedule {
	if !f.goesOn() {
		return all
	}
	c := *s
	c.Lane, c.Lanes = renumbered(a)
	if c.Waits = crossing(&c, leastOrdered(&c), nil); c.Syncs() > s.Syncs() {
		return all
	}
	return append(all, c)
}
