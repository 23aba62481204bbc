package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// maxFolded is the largest number of operations of a graph for which simulations pay.
// maxTried bounds the operations of all schedules that a pass tries together: a graph of 200
// operations is simulated 600 times. A search that reaches the bound keeps the best schedule so far.
const (
	maxFolded = 200
	maxTried  = 120_000
)

// foldSearch searches for better schedules of one graph.
type foldSearch struct {
	*forecast
	graph   *ir.Graph
	guessed bool         // the times of kernels are estimates
	free    []bool       // by operation: it is a transfer and depends on no kernel
	took    []model.Time // by operation: its time alone on the device
	tried   int          // operations of all schedules tried so far
	total   *int         // the same for all passes together; nil if not counted

	seen map[string]bool // schedules tried so far, by order and lanes: see fresh
	sim  *rehearsal      // incremental predictions; nil if part of the graph is replayed outside it
}

func newFoldSearch(g *ir.Graph, opts *Options) (*foldSearch, error) {
	f, err := opts.forecast(g)
	if err != nil {
		return nil, err
	}
	w := &foldSearch{forecast: f, graph: g, guessed: opts.guessed(), free: make([]bool, g.Len()), seen: map[string]bool{}, total: opts.tried}
	for i := range g.Ops {
		v := ir.OpID(i)
		w.free[v] = w.transfers(v) && !slices.ContainsFunc(g.DepsInto(v), func(d ir.Dep) bool { return !w.free[d.From] })
	}
	if g.Len() <= maxFolded {
		w.sim = newRehearsal(g, f)
	}
	return w, nil
}

// transfers reports whether an operation moves or fills at least one byte. A prefetch
// counts only on streams: with graphs it is enqueued separately, and operations that wait for it
// would also wait for transfers placed before it.
func (f *foldSearch) transfers(v ir.OpID) bool {
	op := &f.graph.Ops[v]
	switch op.Kind {
	case ir.KindPrefetch:
		return f.streams && !nothing(op)
	case ir.KindCopy, ir.KindMemset:
		return !nothing(op)
	}
	return false
}

// outlook is the prediction of a schedule.
type outlook struct {
	took  model.Time // of a replay
	waits int        // number of waits
	host  model.Time // time of the host in stream calls that a graph would not need
	// ready is, by kernel, the end of the last transfer that it or a kernel before it waits for. It is set only
	// if the times of kernels are estimates.
	ready []model.Time
}

// outlook predicts a schedule and makes it the base of later incremental predictions.
func (f *foldSearch) outlook(s *ir.Schedule) outlook {
	o, _ := f.predict(s, func(*outlook) model.Time { return horizon })
	f.keep()
	return o
}

// keep makes later predictions begin where they first differ from the last one.
func (f *foldSearch) keep() {
	if f.sim != nil {
		f.sim.sim.Keep()
	}
}

// judge predicts a schedule and reports whether it beats the best so far. The prediction stops early if it cannot.
func (f *foldSearch) judge(s *ir.Schedule, best, limit *outlook) (outlook, bool) {
	if s.Syncs() > limit.waits {
		return outlook{}, false
	}
	o, ok := f.predict(s, func(o *outlook) model.Time { return min(limit.took, best.cost()-1-o.host/2) })
	return o, ok && o.beats(best, limit)
}

// predict predicts a schedule. ok is false if the replay takes longer than the limit, which may depend on the
// host's time.
func (f *foldSearch) predict(s *ir.Schedule, limit func(*outlook) model.Time) (o outlook, ok bool) {
	o.waits = s.Syncs()
	if f.streams {
		o.host = f.streamCalls(s)
	}
	if f.sim == nil {
		took, ends := f.replay(s)
		o.took, ok = took, true
		f.wait(&o, s, func(v ir.OpID) model.Time { return ends[v] })
		return o, ok
	}
	if o.took, ok = f.within(s, limit(&o)); ok {
		f.wait(&o, s, f.sim.end)
	}
	return o, ok
}

// within returns the predicted time of a schedule, and whether it is at most a limit.
func (f *foldSearch) within(s *ir.Schedule, limit model.Time) (model.Time, bool) {
	if f.sim == nil {
		took := f.makespan(s)
		return took, took <= limit
	}
	l := f.sim.load(s)
	return f.sim.run(&l, limit)
}

// wait sets o.ready if the times of kernels are estimates.
func (f *foldSearch) wait(o *outlook, s *ir.Schedule, end func(ir.OpID) model.Time) {
	if !f.guessed {
		return
	}
	o.ready = make([]model.Time, s.Graph.Len())
	preds := schedules.Predecessors(s)
	for _, v := range s.Order {
		if f.transfers(v) {
			continue
		}
		for _, u := range preds[v] {
			if f.transfers(u) {
				o.ready[v] = max(o.ready[v], end(u))
			} else {
				o.ready[v] = max(o.ready[v], o.ready[u])
			}
		}
	}
}

// cost is the objective of a search. The host's time in calls counts half, because the program may use
// that time otherwise. HITS at 16384 vertices in managed memory on an H200 makes two calls fewer with
// full weight and takes 0.8 us longer. With a quarter, it makes two calls more and takes 1.8 us longer.
func (o *outlook) cost() model.Time { return o.took + o.host/2 }

// within reports whether o is within the limit in time, waits and, if estimated, the readiness of kernels.
func (o *outlook) within(limit *outlook) bool {
	for v := range o.ready {
		if o.ready[v] > limit.ready[v] {
			return false
		}
	}
	return o.took <= limit.took && o.waits <= limit.waits
}

// beats reports whether o costs less than the best so far and is within the limit.
func (o *outlook) beats(best, limit *outlook) bool {
	return o.within(limit) && o.cost() < best.cost()
}

// shorter reports whether o takes less time than the best so far, or equal time with less time in calls.
func (o *outlook) shorter(best *outlook) bool {
	return o.took < best.took || o.took == best.took && o.host < best.host
}

// descend is steepest descent: it makes the best of all moves until none improves the schedule within the limit.
func (f *foldSearch) descend(s *ir.Schedule, limit *outlook, moves func(*ir.Schedule) []ir.Schedule) outlook {
	best := f.outlook(s)
	for {
		var chosen *ir.Schedule
		for _, c := range moves(s) {
			if o, better := f.improves(&c, &best, limit); better {
				best, chosen = o, &c
			}
		}
		if chosen == nil {
			return best
		}
		*s = *chosen
		best = f.outlook(s)
	}
}

// improves reports whether c beats the best so far, and removes unneeded waits from it if it does: pruning is
// too expensive for every schedule.
func (f *foldSearch) improves(c *ir.Schedule, best, limit *outlook) (outlook, bool) {
	o, better := f.judge(c, best, limit)
	if !better || !prune(c) {
		return o, better
	}
	return f.judge(c, best, limit)
}

// try adds to all the schedule s with the lanes and order of a, unless dependencies forbid the order. On streams it
// also adds the variant with the longest path enqueued first.
func (f *foldSearch) try(all []ir.Schedule, s *ir.Schedule, a assignment) []ir.Schedule {
	if !topological(s.Graph, a.order) {
		return all
	}
	c := *s
	c.Order, c.Waits = a.order, nil
	c.Lane, c.Lanes = renumbered(a)
	if !f.fresh(&c) {
		return all
	}
	for _, c := range relaned(&c) {
		all = append(all, c)
		if !f.streams {
			continue
		}
		if c = f.reordered(&c); f.fresh(&c) {
			all = append(all, c)
		}
	}
	return all
}

// reordered returns s with the longest path enqueued first.
func (f *foldSearch) reordered(s *ir.Schedule) ir.Schedule {
	if f.took == nil {
		f.took = alone(s.Graph, f.profile, f.costs)
	}
	c := *s
	c.Order = longestFirst(s, f.took)
	c.Lane, c.Lanes = renumbered(assignment{lane: s.Lane, order: c.Order})
	return c
}

// fresh reports whether a schedule is to be tried: it has not been tried before, and the search is within its
// bound. A schedule tried before was no better than the best then, or the search has continued from it. Most
// schedules are reached by several moves.
func (f *foldSearch) fresh(s *ir.Schedule) bool {
	key := make([]byte, 0, 3*len(s.Order))
	for _, v := range s.Order {
		key = append(key, byte(v), byte(s.Lane[v])) // both are less than maxFolded, which fits a byte
		if s.Waits != nil {
			for _, u := range s.Waits[v] {
				key = append(key, maxFolded, byte(u))
			}
		}
	}
	if f.seen[string(key)] || !f.goesOn() {
		return false
	}
	f.seen[string(key)] = true
	return true
}

// goesOn reports whether the search may try another schedule, and counts that schedule.
func (f *foldSearch) goesOn() bool {
	if f.tried > maxTried {
		return false
	}
	f.tried += f.graph.Len()
	if f.total != nil {
		*f.total += f.graph.Len()
	}
	return true
}

// topological reports whether order satisfies the dependencies of g.
func topological(g *ir.Graph, order []ir.OpID) bool {
	rank := make([]int, len(order))
	for r, v := range order {
		rank[v] = r
	}
	return !slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool { return rank[d.From] > rank[d.To] })
}
