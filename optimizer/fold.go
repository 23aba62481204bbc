package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// fold removes concurrency that does not pay for its waits. It starts with transfers that depend
// on no kernel. The copy engine runs these one after another whatever their lanes. fold moves them
// to the front of other lanes, or deals them to new ones (see deals), as long as that helps:
//
//	copy x ─► square ─┐                 copy x ─► square ─┐
//	copy y ─► square ─┼─► reduce  ==>                     ├─► reduce
//	clear ────────────┘         clear ─► copy y ─► square ┘
//
// Here y waits for the copy engine until x is done, and clear runs meanwhile. Each node that
// continues a chain makes a graph cheaper to launch, and each call saved makes streams cheaper
// (see outlook).
//
// Guarantees: the replay is never predicted to take longer than with the strategy's lanes, there
// are no more waits and no more lanes, and every wait is required by a dependency (see prune).
//
// The times of transfers are known; those of kernels are estimates unless costs were given. With
// estimates, no kernel may have to wait longer for transfers: a transfer moves only into time in
// which the engine was busy anyway, however long kernels take, and nothing is placed behind a
// kernel. With given costs, fold also tries to move single transfers anywhere (see shifts), to wait
// for later operations (see retargets) and to join two lanes (see merge). A second search of this
// kind starts from a single lane, which is best where kernels are shorter than their calls. The
// shorter of the two replays is taken.
//
// Schedules on a single lane are left alone: they have no concurrency, and serial, the reference
// of all comparisons, must keep program order. The search is hill climbing, bounded by maxTried.
func fold(s *ir.Schedule, opts *Options) error {
	if s.Lanes <= 1 || s.Graph.Len() > maxFolded || opts.settled {
		return nil
	}
	f, err := newFoldSearch(s.Graph, opts)
	if err != nil {
		return nil // the pass predict reports this error
	}
	limit := f.outlook(s)
	best, lanes := limit, s.Lanes
	for _, c := range append([]ir.Schedule{*s}, f.deals(s)...) {
		if o := f.descend(&c, &limit, f.foldings); c.Lanes <= lanes && o.beats(&best, &limit) {
			best, *s = o, c
		}
	}
	if f.guessed {
		return nil
	}
	best = f.improve(s, &limit)
	for _, c := range f.try(nil, s, assignment{lane: make([]ir.LaneID, s.Graph.Len()), order: programOrder(s.Graph)}) {
		if o := f.improve(&c, &limit); o.within(&limit) && o.shorter(&best) {
			best, *s = o, c
		}
	}
	return nil
}

// improve tries all moves except foldings until none helps.
func (f *foldSearch) improve(s *ir.Schedule, limit *outlook) outlook {
	best := f.outlook(s)
	for {
		was := best
		f.descend(s, limit, f.shifts)
		best = f.descend(s, limit, f.retargets)
		if f.merge(s, &best); !best.beats(&was, limit) {
			return best
		}
	}
}

// byLane lists the operations of each lane.
func byLane(s *ir.Schedule) [][]ir.OpID {
	lanes := make([][]ir.OpID, s.Lanes)
	for _, v := range s.Order {
		lanes[s.Lane[v]] = append(lanes[s.Lane[v]], v)
	}
	return lanes
}

// front returns the transfers at the front of a lane that may be moved.
func (f *foldSearch) front(lane []ir.OpID) []ir.OpID {
	n := 0
	for n < len(lane) && f.free[lane[n]] {
		n++
	}
	return lane[:n]
}

// foldings returns the schedules in which the front of one lane is moved to another lane, before or
// after the front of that lane.
func (f *foldSearch) foldings(s *ir.Schedule) (all []ir.Schedule) {
	lanes := byLane(s)
	for from, lane := range lanes {
		moved := f.front(lane)
		if len(moved) == 0 {
			continue
		}
		for onto := range lanes {
			if onto == from {
				continue
			}
			for _, at := range slices.Compact([]int{0, len(f.front(lanes[onto]))}) {
				all = f.move(all, s, moved, lanes[onto], at)
			}
		}
	}
	return all
}

// shifts returns the schedules in which one transfer is at another position, possibly behind a kernel.
func (f *foldSearch) shifts(s *ir.Schedule) (all []ir.Schedule) {
	lanes := byLane(s)
	for v, free := range f.free {
		if !free {
			continue
		}
		for _, lane := range lanes {
			for at := range len(lane) + 1 {
				all = f.move(all, s, []ir.OpID{ir.OpID(v)}, lane, at)
			}
		}
	}
	return all
}

// merge joins two lanes into one wherever that makes streams cheaper and no slower: a lane pays for
// its calls only if kernels overlap. It takes the first improvement, because there are too many pairs
// to search for the best one each time.
func (f *foldSearch) merge(s *ir.Schedule, best *outlook) {
	for from := ir.LaneID(1); f.streams && int(from) < s.Lanes; from++ {
		for onto := range from {
			for _, c := range f.try(nil, s, assignment{lane: merged(s, from, onto), order: s.Order}) {
				if o, better := f.judge(&c, best, best); better {
					*best, *s = o, c
				}
			}
		}
	}
}

// merged returns the lanes of s with the lane from replaced by onto.
func merged(s *ir.Schedule, from, onto ir.LaneID) []ir.LaneID {
	lane := slices.Clone(s.Lane)
	for v := range lane {
		if lane[v] == from {
			lane[v] = onto
		}
	}
	return lane
}

// move adds to all the schedule s with some operations moved to position at of a lane, unless an
// operation would then precede one that it depends on.
func (f *foldSearch) move(all []ir.Schedule, s *ir.Schedule, moved, lane []ir.OpID, at int) []ir.Schedule {
	place := slices.Index(s.Order, lane[max(0, at-1)])
	if at > 0 {
		place++
	}
	is := func(v ir.OpID) bool { return slices.Contains(moved, v) }
	before := slices.DeleteFunc(slices.Clone(s.Order[:place]), is)
	behind := slices.DeleteFunc(slices.Clone(s.Order[place:]), is)
	a := assignment{lane: slices.Clone(s.Lane), order: slices.Concat(before, moved, behind)}
	for _, v := range moved {
		a.lane[v] = s.Lane[lane[0]]
	}
	return f.try(all, s, a)
}
