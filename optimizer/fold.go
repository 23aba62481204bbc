package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// fold gives up concurrency that is worth nothing, or less than it costs. First that of
// operations that bring data in and depend on no kernel, which the copy engine takes one after
// another whatever lanes they are on: it moves them to the front of other lanes, or deals them
// out anew (see deals), as long as that helps:
//
//	copy x ─► square ─┐                 copy x ─► square ─┐
//	copy y ─► square ─┼─► reduce  ==>                     ├─► reduce
//	clear ────────────┘         clear ─► copy y ─► square ┘
//
// Here y waits for the engine behind x, and clear is done meanwhile. A graph is cheaper to
// launch by each node that merely continues a chain, and streams by each call that is not made
// (see outlook). The replay is never predicted to take longer than that of the strategy's lanes,
// nor are there more waits, and no wait is left that no dependency requires (see prune).
//
// The times of transfers are known here. Those of kernels are only guessed when nobody gave
// costs; then no kernel may have to wait longer for the transfers before it: what is moved
// fits where the engine was busy anyway, however long kernels take, and nothing is put behind
// a kernel. Costs that were given are taken at their word. Then single transfers are tried
// anywhere (see shifts), waits for what comes later (see retargets) and two lanes as one
// (see merge). Another search of that kind starts from a single lane: where kernels are
// shorter than the host takes to call for them, nothing is quicker. The shorter replay of the
// two is taken. The lanes are never more than before: a strategy may have its reasons.
//
// On a single lane there is no concurrency to give up, and serial, which all plans are compared
// with, keeps program order.
func fold(s *ir.Schedule, opts *Options) error {
	if s.Lanes <= 1 || s.Graph.Len() > maxFolded || opts.settled {
		return nil
	}
	f, err := newFolder(s.Graph, opts)
	if err != nil {
		return nil // predict says so, if it is asked to
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

// improve tries all moves but those of lanes' fronts until none helps.
func (f *folder) improve(s *ir.Schedule, limit *outlook) outlook {
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

// front is what of a lane may be moved.
func (f *folder) front(lane []ir.OpID) []ir.OpID {
	n := 0
	for n < len(lane) && f.free[lane[n]] {
		n++
	}
	return lane[:n]
}

// foldings are the schedules in which one lane has given its front to another, before or
// behind that one's own.
func (f *folder) foldings(s *ir.Schedule) (all []ir.Schedule) {
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

// shifts are the schedules in which one transfer is somewhere else, be it behind a kernel.
func (f *folder) shifts(s *ir.Schedule) (all []ir.Schedule) {
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

// merge makes one lane of two where streams then cost less and take no longer: a lane is worth
// more than the calls for it where kernels overlap. It does so right away, since the pairs are
// too many to look for the best each time.
func (f *folder) merge(s *ir.Schedule, best *outlook) {
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

// merged is the lanes of s with one for two.
func merged(s *ir.Schedule, from, onto ir.LaneID) []ir.LaneID {
	lane := slices.Clone(s.Lane)
	for v := range lane {
		if lane[v] == from {
			lane[v] = onto
		}
	}
	return lane
}

// move adds to all what s is with operations before number at of a lane, unless something
// would come before what it depends on.
func (f *folder) move(all []ir.Schedule, s *ir.Schedule, moved, lane []ir.OpID, at int) []ir.Schedule {
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
