package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// fold gives up concurrency that is worth nothing: of operations that bring data in and
// depend on no kernel, which the copy engine takes one after another whatever lanes they are
// on. It moves them to the front of other lanes, or deals them out anew (see deals), as long
// as the replay is predicted to end sooner:
//
//	copy x ─► square ─┐                 copy x ─► square ─┐
//	copy y ─► square ─┼─► reduce  ==>                     ├─► reduce
//	clear ────────────┘         clear ─► copy y ─► square ┘
//
// Here y waits for the engine behind x, and clear is done meanwhile. A graph is cheaper to
// launch by each node that merely continues a chain. Over streams the host's time in calls
// counts as much as that of the replay, which still never grows.
//
// The times of transfers are known here. Those of kernels are only guessed when nobody gave
// costs; then no kernel may have to wait longer for the transfers before it: what is moved
// fits where the engine was busy anyway, however long kernels take, and nothing is put behind
// a kernel. Costs that were given are taken at their word, and single transfers tried anywhere
// (see shifts), and waits for what comes later (see retargets). On a single lane there is no
// concurrency to give up, and serial, which all plans are compared with, keeps program order.
func fold(s *ir.Schedule, opts *Options) error {
	if s.Lanes <= 1 || s.Graph.Len() > maxFolded {
		return nil
	}
	f, err := newFolder(s.Graph, opts)
	if err != nil {
		return nil // predict says so, if it is asked to
	}
	limit := f.outlook(s)
	best := limit
	for _, c := range append([]ir.Schedule{*s}, f.deals(s)...) {
		o := f.descend(&c, &limit, f.foldings)
		if c.Lanes <= s.Lanes && o.beats(&best, &limit) { // a strategy may have reasons to use no more
			best, *s = o, c
		}
	}
	if !f.guessed {
		f.descend(s, &limit, f.shifts)
		f.descend(s, &limit, f.retargets)
	}
	return nil
}

// descend moves as long as that helps and the result keeps within the limit, each time in
// the way that helps most.
func (f *folder) descend(s *ir.Schedule, limit *outlook, moves func(*ir.Schedule) []ir.Schedule) outlook {
	best := f.outlook(s)
	for {
		var chosen *ir.Schedule
		for _, c := range moves(s) {
			if o := f.outlook(&c); o.beats(&best, limit) {
				best, chosen = o, &c
			}
		}
		if chosen == nil {
			return best
		}
		*s = *chosen
	}
}

// maxFolded is the most operations of a graph that is worth the simulations, and maxTried
// the most that all schedules which a pass tries may have together: a graph of 200 is
// simulated 300 times for each. Where the search ends there, it keeps the best so far.
// B&S, of 30, tries the most of the benchmarks, up to 57 600.
const (
	maxFolded = 200
	maxTried  = 60_000
)

// folder looks for better schedules of one graph.
type folder struct {
	*forecast
	graph   *ir.Graph
	guessed bool       // the times of kernels are
	free    []bool     // by operation: transfers, and depends on no kernel
	took    []des.Time // by operation: alone
	tried   int        // operations of all schedules so far
}

func newFolder(g *ir.Graph, opts *Options) (*folder, error) {
	f, err := opts.forecast(g)
	if err != nil {
		return nil, err
	}
	w := &folder{forecast: f, graph: g, guessed: opts.guessed(), free: make([]bool, g.Len())}
	for i := range g.Ops {
		v := ir.OpID(i)
		w.free[v] = w.transfers(v) && !slices.ContainsFunc(g.DepsInto(v), func(d ir.Dep) bool { return !w.free[d.From] })
	}
	return w, nil
}

// transfers reports whether an operation moves or fills bytes, and more than none. A
// prefetch counts on streams: a graph has none, and who waits for it there would wait for
// what was put in front of it.
func (f *folder) transfers(v ir.OpID) bool {
	op := &f.graph.Ops[v]
	switch op.Kind {
	case ir.KindPrefetch:
		return f.streams && !nothing(op)
	case ir.KindCopy, ir.KindMemset:
		return !nothing(op)
	}
	return false
}

// outlook is what is predicted of a schedule.
type outlook struct {
	took  des.Time
	host  des.Time   // in calls for streams, which a program could do without
	ready []des.Time // by operation: when the last transfer right before it ends, if kernels' times are guesses
}

func (f *folder) outlook(s *ir.Schedule) (o outlook) {
	took, ends := f.replay(s)
	o.took = took
	if f.streams {
		o.host = f.calls(s)
	}
	if !f.guessed {
		return o
	}
	o.ready = make([]des.Time, len(ends))
	for v, preds := range predecessors(s) {
		if f.transfers(ir.OpID(v)) {
			continue
		}
		for _, u := range preds {
			if f.transfers(u) {
				o.ready[v] = max(o.ready[v], ends[u])
			}
		}
	}
	return o
}

// beats reports whether o is better than the best so far and takes no longer than the limit.
func (o *outlook) beats(best, limit *outlook) bool {
	for v := range o.ready {
		if o.ready[v] > limit.ready[v] {
			return false
		}
	}
	return o.took <= limit.took && o.took+o.host < best.took+best.host
}

// settle completes a schedule whose lanes and order say what runs before what.
func (f *folder) settle(s *ir.Schedule) {
	relane(s)
	if f.streams {
		if f.took == nil {
			f.took = alone(s.Graph, f.profile, f.costs)
		}
		s.Order = longestFirst(s, f.took)
		s.Lane, s.Lanes = renumbered(assignment{lane: s.Lane, order: s.Order})
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

// try adds to all what s is with other lanes and another order, if that order is one.
func (f *folder) try(all []ir.Schedule, s *ir.Schedule, a assignment) []ir.Schedule {
	if f.tried > maxTried || !topological(s.Graph, a.order) {
		return all
	}
	f.tried += s.Graph.Len()
	c := *s
	c.Order = a.order
	c.Lane, c.Lanes = renumbered(a)
	f.settle(&c)
	return append(all, c)
}

func topological(g *ir.Graph, order []ir.OpID) bool {
	rank := make([]int, len(order))
	for r, v := range order {
		rank[v] = r
	}
	return !slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool { return rank[d.From] > rank[d.To] })
}
