package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// maxFolded is the most operations of a graph that is worth the simulations, and maxTried
// the most that all schedules which a pass tries may have together: a graph of 200 is
// simulated 600 times for each. Where the search ends there, it keeps the best so far.
const (
	maxFolded = 200
	maxTried  = 120_000
)

// folder looks for better schedules of one graph.
type folder struct {
	*forecast
	graph   *ir.Graph
	guessed bool         // the times of kernels are
	free    []bool       // by operation: transfers, and depends on no kernel
	took    []model.Time // by operation: alone
	tried   int          // operations of all schedules so far
	total   *int         // and those of other passes, if somebody wants to know
	seen    map[string]bool
	sim     *rehearsal // nil for a graph that is not replayed as one form
}

func newFolder(g *ir.Graph, opts *Options) (*folder, error) {
	f, err := opts.forecast(g)
	if err != nil {
		return nil, err
	}
	w := &folder{forecast: f, graph: g, guessed: opts.guessed(), free: make([]bool, g.Len()), seen: map[string]bool{}, total: opts.tried}
	for i := range g.Ops {
		v := ir.OpID(i)
		w.free[v] = w.transfers(v) && !slices.ContainsFunc(g.DepsInto(v), func(d ir.Dep) bool { return !w.free[d.From] })
	}
	if g.Len() <= maxFolded {
		w.sim = newRehearsal(g, f)
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
	took  model.Time
	waits int
	host  model.Time   // the host's time in calls for streams, which a program could do without
	ready []model.Time // by operation that is no transfer: when the last transfer before it ends that it or a kernel before it depends on, if kernels' times are guesses
}

// outlook predicts a schedule from which a search goes on.
func (f *folder) outlook(s *ir.Schedule) outlook {
	o, _ := f.predict(s, func(*outlook) model.Time { return farthest })
	f.keep()
	return o
}

// keep has later predictions begin where they first differ from the last one.
func (f *folder) keep() {
	if f.sim != nil {
		f.sim.sim.Keep()
	}
}

// judge predicts a schedule and reports whether it beats the best so far. If it certainly does not, the prediction ends early.
func (f *folder) judge(s *ir.Schedule, best, limit *outlook) (outlook, bool) {
	if s.Syncs() > limit.waits {
		return outlook{}, false
	}
	o, ok := f.predict(s, func(o *outlook) model.Time { return min(limit.took, best.cost()-1-o.host/2) })
	return o, ok && o.beats(best, limit)
}

// predict predicts a schedule, unless it takes longer than a limit, which may depend on the host's time.
func (f *folder) predict(s *ir.Schedule, limit func(*outlook) model.Time) (o outlook, ok bool) {
	o.waits = s.Syncs()
	if f.streams {
		o.host = f.calls(s)
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

// within returns how long a schedule takes, if that is within a limit.
func (f *folder) within(s *ir.Schedule, limit model.Time) (model.Time, bool) {
	if f.sim == nil {
		took := f.makespan(s)
		return took, took <= limit
	}
	l := f.sim.load(s)
	return f.sim.run(&l, limit)
}

// wait sets ready, where the times of kernels are guesses.
func (f *folder) wait(o *outlook, s *ir.Schedule, end func(ir.OpID) model.Time) {
	if !f.guessed {
		return
	}
	o.ready = make([]model.Time, s.Graph.Len())
	preds := predecessors(s)
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

// cost is what searches make less of. The host's time in calls counts half: it is free for
// something else, if the program has anything. At the full price HITS at 16384 vertices with
// prefetches, on a GTX 1660 Super, makes four calls fewer than by hand and takes 1.9 us longer;
// at a quarter it makes two more in managed memory on an H200, to be 0.4 us quicker.
func (o *outlook) cost() model.Time { return o.took + o.host/2 }

// within reports whether o takes no longer than the limit and waits no more often.
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

// shorter reports whether o takes less than the best so far, or no longer with fewer calls.
func (o *outlook) shorter(best *outlook) bool {
	return o.took < best.took || o.took == best.took && o.host < best.host
}

// descend moves as long as that helps and the result keeps within the limit, each time in
// the way that helps most.
func (f *folder) descend(s *ir.Schedule, limit *outlook, moves func(*ir.Schedule) []ir.Schedule) outlook {
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

// improves reports whether c beats the best so far with no wait that is not needed. It removes
// those that are not, which is too dear for schedules that are worse in any case.
func (f *folder) improves(c *ir.Schedule, best, limit *outlook) (outlook, bool) {
	o, better := f.judge(c, best, limit)
	if !better || !prune(c) {
		return o, better
	}
	return f.judge(c, best, limit)
}

// try adds to all what s is with other lanes and another order, if that order is one: on
// streams also with the longest path enqueued first.
func (f *folder) try(all []ir.Schedule, s *ir.Schedule, a assignment) []ir.Schedule {
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

// reordered is s with the longest path enqueued first.
func (f *folder) reordered(s *ir.Schedule) ir.Schedule {
	if f.took == nil {
		f.took = alone(s.Graph, f.profile, f.costs)
	}
	c := *s
	c.Order = longestFirst(s, f.took)
	c.Lane, c.Lanes = renumbered(assignment{lane: s.Lane, order: c.Order})
	return c
}

// fresh reports whether a schedule is to be tried: it has not been, and the search may go on.
// What was tried was no better than the best then, or has been gone on from; most moves of a
// transfer lead to a schedule that others lead to as well.
func (f *folder) fresh(s *ir.Schedule) bool {
	key := make([]byte, 0, 3*len(s.Order))
	for _, v := range s.Order {
		key = append(key, byte(v), byte(s.Lane[v])) // below maxFolded
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

// goesOn reports whether the search may try another schedule, and counts it.
func (f *folder) goesOn() bool {
	if f.tried > maxTried {
		return false
	}
	f.tried += f.graph.Len()
	if f.total != nil {
		*f.total += f.graph.Len()
	}
	return true
}

func topological(g *ir.Graph, order []ir.OpID) bool {
	rank := make([]int, len(order))
	for r, v := range order {
		rank[v] = r
	}
	return !slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool { return rank[d.From] > rank[d.To] })
}
