package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// splice has lanes go on with what waits for them, where a replay over streams is predicted
// to end sooner so. Of what an operation needs, the one before it on its lane keeps it waiting
// for less time than an event does, so that the last to end had better be on its own lane:
//
//	long ──────────┐                  long ──────────► join
//	short ─► short ┴► join    ==>     short ─► short ──┘
//
// Nimble counts waits, and both have one. It is a matter of when things end, which depends
// on when the host enqueued them. The lanes are no more than before, nor are the waits, and
// no operation comes to depend on another. Graphs know no lanes and stay as they are.
func splice(s *ir.Schedule, opts *Options) error {
	if opts.settled || !opts.Streams || s.Graph.Len() > maxFolded {
		return nil
	}
	f, err := newFolder(s.Graph, opts)
	if err != nil {
		return nil // predict says so, if it is asked to
	}
	limit := f.outlook(s)
	f.descend(s, &limit, f.splices)
	return nil
}

// splices are the schedules in which one operation goes on where the lane of an operation
// ends that it waits for, or begins its own lane there and what came next begins one.
func (f *folder) splices(s *ir.Schedule) (all []ir.Schedule) {
	lanes := byLane(s)
	for i, waits := range s.Waits {
		v := ir.OpID(i)
		at := slices.Index(lanes[s.Lane[v]], v)
		for _, u := range waits {
			next := slices.Index(lanes[s.Lane[u]], u) + 1
			if at > 0 && next < len(lanes[s.Lane[u]]) {
				continue // its lane would go on with what did not depend on it
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

// regroup adds to all what s is with other lanes, unless those need more waits.
func (f *folder) regroup(all []ir.Schedule, s *ir.Schedule, a assignment) []ir.Schedule {
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
