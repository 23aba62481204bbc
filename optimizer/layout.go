package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// layout is a point of the search space: the lane and the position of each operation, and deliberate waits. The
// other waits follow from these (see rehearsal).
type layout struct {
	order  []ir.OpID
	lane   []ir.LaneID // by operation: a number below lanes; some numbers may be unused
	lanes  int
	delays []ir.Dep // deliberate waits, which no dependency requires
}

// layoutOf returns the layout of a schedule.
func layoutOf(s *ir.Schedule) *layout {
	l := &layout{order: slices.Clone(s.Order), lane: slices.Clone(s.Lane), lanes: s.Lanes}
	for v, waits := range s.Waits {
		for _, u := range waits {
			if !depends(s.Graph, u, ir.OpID(v)) {
				l.delays = append(l.delays, ir.Dep{From: u, To: ir.OpID(v)})
			}
		}
	}
	return l
}

// depends reports whether v has a dependency on u.
func depends(g *ir.Graph, u, v ir.OpID) bool {
	return slices.ContainsFunc(g.DepsInto(v), func(d ir.Dep) bool { return d.From == u })
}

// set copies another layout to l.
func (l *layout) set(from *layout) {
	l.order = append(l.order[:0], from.order...)
	l.lane = append(l.lane[:0], from.lane...)
	l.delays = append(l.delays[:0], from.delays...)
	l.lanes = from.lanes
}

// rehearsal predicts replays of layouts of one graph. It computes the edges of a layout, which are the waits and the
// predecessor on each lane, and simulates only what differs from the prediction kept last (see des.Rehearsal).
type rehearsal struct {
	*forecast
	graph *ir.Graph
	sim   *des.Rehearsal
	play  des.Play
	calls []model.Time // by operation: the time of its call over streams, on the host
	gap   model.Time   // between two operations of a lane

	// The current layout:
	rank     []int32    // by operation: its position in the order
	tail     []ir.OpID  // by lane: its last operation so far, -1 for none
	words    int        // length of a row of before
	before   dense.Set  // by operation: a row of bits, one for each operation ordered before it
	edges    []ir.OpID  // the predecessors of v are edges[first[v]:last[v]]
	first    []int32    // by operation
	last     []int32    // by operation
	waited   []int32    // by operation: number of edges from it
	recorded []bool     // by operation: whether another lane waits for it
	deps     []des.Dep  // scratch memory
	crossing int        // lanes plus waits
	launch   model.Time // of the host: the launch of the graph, or all stream calls
}

// newRehearsal returns nil if operations are replayed in another form than the others: prefetches are enqueued
// before a graph, and loops and branches are graphs in a stream.
func newRehearsal(g *ir.Graph, f *forecast) *rehearsal {
	if f.streams && has(g, isControl) || !f.streams && has(g, isPrefetch) {
		return nil
	}
	n := g.Len()
	r := &rehearsal{
		forecast: f, graph: g, words: (n + 63) / 64, calls: make([]model.Time, n), gap: f.profile.GraphEdgeGap,
		rank: make([]int32, n), first: make([]int32, n), last: make([]int32, n), waited: make([]int32, n), recorded: make([]bool, n),
		play: des.Play{Order: make([]int32, n), Arrival: make([]model.Time, n), Deps: make([][]des.Dep, n)},
	}
	if f.streams {
		r.gap = f.profile.StreamGap
	}
	r.before = make(dense.Set, n*r.words)
	demands, least := make([]model.Demand, n), make([]model.Time, n)
	for v := range demands {
		demands[v] = f.costs.Demand(g, ir.OpID(v))
		least[v] = max(0, des.LeastTime(f.profile, demands[v])-roundings)
		r.calls[v] = callOf(&g.Ops[v], &f.profile.Host)
	}
	r.sim = des.NewRehearsal(f.profile, demands)
	r.play.Least = upwardRanks(g, least, r.gap)
	return r
}

// roundings is the largest error of a lower bound of a task's time that rounding to picoseconds causes.
const roundings = 2 // ps

// row returns the bit set of the operations before v.
func (r *rehearsal) row(v ir.OpID) dense.Set { return r.before[int(v)*r.words : (int(v)+1)*r.words] }

// begin stores the order of a layout and removes all edges.
func (r *rehearsal) begin(l *layout) {
	for i, v := range l.order {
		r.rank[v], r.play.Order[i] = int32(i), int32(v)
	}
	r.tail = append(r.tail[:0], make([]ir.OpID, l.lanes)...)
	for i := range r.tail {
		r.tail[i] = -1
	}
	r.edges, r.crossing = r.edges[:0], 0
	clear(r.waited)
	clear(r.recorded)
}

// connect computes the edges of a layout: the transitive reduction of dependencies, lanes and delays, and
// in addition the edge from the predecessor on the same lane.
func (r *rehearsal) connect(l *layout) {
	r.begin(l)
	for _, v := range l.order {
		r.first[v] = int32(len(r.edges))
		own := r.tail[l.lane[v]]
		if own >= 0 {
			r.edges = append(r.edges, own)
		} else {
			r.crossing++
		}
		for _, d := range r.graph.DepsInto(v) {
			if d.From != own {
				r.edges = append(r.edges, d.From)
			}
		}
		for _, d := range l.delays {
			if d.To == v && d.From != own {
				r.edges = append(r.edges, d.From)
			}
		}
		r.reduce(v, own)
		r.tail[l.lane[v]] = v
	}
}

// reduce removes the edges into v that others imply, except the one from its own lane. It visits predecessors
// from the latest to the earliest and merges their bit sets, in O(E·V/64) for all operations.
func (r *rehearsal) reduce(v, own ir.OpID) {
	into := r.edges[r.first[v]:]
	slices.SortFunc(into, func(a, b ir.OpID) int { return int(r.rank[b] - r.rank[a]) })
	row := r.row(v)
	clear(row)
	kept := into[:0]
	for _, u := range into {
		if row.Has(int(u)) && u != own {
			continue
		}
		row.Unite(r.row(u))
		row.Add(int(u))
		kept = append(kept, u)
		r.waited[u]++
		if u != own {
			r.recorded[u] = true
			r.crossing++
		}
	}
	r.edges = r.edges[:int(r.first[v])+len(kept)]
	r.last[v] = int32(len(r.edges))
}

// load stores the edges of a schedule without a reduction: its waits and the predecessor on each lane. It returns the
// layout of the schedule, which shares the schedule's memory.
func (r *rehearsal) load(s *ir.Schedule) layout {
	l := layout{order: s.Order, lane: s.Lane, lanes: s.Lanes}
	r.begin(&l)
	for _, v := range s.Order {
		r.first[v] = int32(len(r.edges))
		if own := r.tail[s.Lane[v]]; own >= 0 {
			r.edges = append(r.edges, own)
			r.waited[own]++
		} else {
			r.crossing++
		}
		for _, u := range s.Waits[v] {
			r.edges = append(r.edges, u)
			r.waited[u]++
			r.recorded[u] = true
			r.crossing++
		}
		r.last[v] = int32(len(r.edges))
		r.tail[s.Lane[v]] = v
	}
	return l
}

// into returns the predecessors of v.
func (r *rehearsal) into(v ir.OpID) []ir.OpID { return r.edges[r.first[v]:r.last[v]] }

// perCrossing is the weight of a lane or a wait in the cost of a layout. Of layouts that take equally
// long, it prefers the one with fewer.
const perCrossing = 10 // ps

// cost returns the predicted time of a layout plus perCrossing for each lane and wait. It stops and returns
// false if the cost exceeds the limit.
func (r *rehearsal) cost(l *layout, limit model.Time) (model.Time, bool) {
	r.connect(l)
	extra := model.Time(r.crossing) * perCrossing
	last, ok := r.run(l, limit-extra)
	return last + extra, ok
}

// run returns the predicted time of the current layout. It stops and returns false if the time exceeds the limit.
func (r *rehearsal) run(l *layout, limit model.Time) (model.Time, bool) {
	r.deps = r.deps[:0]
	if !r.streams {
		r.launchGraph(l)
		last, ok := r.sim.Run(&r.play, limit-r.launch)
		return last + r.launch, ok
	}
	r.callStreams(l)
	last, ok := r.sim.Run(&r.play, limit)
	if !ok {
		return 0, false
	}
	last = r.synchronized(l, last)
	return last, last <= limit
}

// end returns the end of an operation in the last replay that was run.
func (r *rehearsal) end(v ir.OpID) model.Time {
	if r.streams {
		return r.sim.End(int32(v))
	}
	return r.launch + r.sim.End(int32(v))
}

// launchGraph sets the launch time of a graph. All operations arrive at its end.
func (r *rehearsal) launchGraph(l *layout) {
	h := &r.profile.Host
	r.launch = h.GraphLaunch + r.profile.SubmitLatency + model.Time(len(l.order))*h.GraphNode
	for i, v := range l.order {
		into := r.into(v)
		if i > 0 && (len(into) != 1 || r.waited[into[0]] != 1) {
			r.launch += h.GraphBranch
		}
		start := len(r.deps)
		for _, u := range into {
			r.deps = append(r.deps, des.Dep{From: int32(u), Gap: r.gap})
		}
		r.play.Deps[v] = r.deps[start:len(r.deps):len(r.deps)]
	}
}

// callStreams sets the arrivals of operations over streams, as streamHost does. A wait is not a task here: it
// delays the operation that waits.
func (r *rehearsal) callStreams(l *layout) {
	p := r.profile
	now := model.Time(0)
	wait := max(0, p.EventGap-p.StreamGap) + p.StreamGap
	for _, v := range l.order {
		start := len(r.deps)
		arrival := model.Time(0)
		for _, u := range r.into(v) {
			gap := p.StreamGap
			if l.lane[u] != l.lane[v] {
				now += p.Host.EventWait
				arrival, gap = now+p.SubmitLatency+p.StreamGap, wait
			}
			r.deps = append(r.deps, des.Dep{From: int32(u), Gap: gap})
		}
		now += r.calls[v]
		r.play.Deps[v] = r.deps[start:len(r.deps):len(r.deps)]
		r.play.Arrival[v] = max(arrival, now+p.SubmitLatency)
		if r.recorded[v] {
			now += p.Host.EventRecord
		}
	}
	r.launch = now
}

// synchronized returns when the host has synchronized with all lanes that no other lane waits for.
func (r *rehearsal) synchronized(l *layout, last model.Time) model.Time {
	now, open := r.launch, 0
	for _, v := range l.order {
		if r.tail[l.lane[v]] != v || r.recorded[v] {
			continue
		}
		if open > 0 {
			now += r.profile.Host.Synchronize
		}
		open++
		now = max(now, r.sim.End(int32(v)))
	}
	return max(now, last)
}

// schedule stores a layout in a schedule: order, lanes, waits and delays.
func (r *rehearsal) schedule(l *layout, s *ir.Schedule) {
	r.connect(l)
	s.Order = slices.Clone(l.order)
	s.Lane, s.Lanes = renumbered(assignment{lane: l.lane, order: l.order})
	s.Waits, s.Delays = make([][]ir.OpID, len(l.order)), nil
	for v := range s.Waits {
		for _, u := range r.into(ir.OpID(v)) {
			if l.lane[u] != l.lane[v] {
				s.Waits[v] = append(s.Waits[v], u)
			}
		}
		slices.Sort(s.Waits[v])
	}
	r.markDelays(l, s)
}

// markDelays marks the waits that no dependency requires as delays. It tests the delays of later operations first.
func (r *rehearsal) markDelays(l *layout, s *ir.Schedule) {
	extra := slices.Clone(l.delays)
	slices.SortFunc(extra, func(a, b ir.Dep) int {
		return cmp.Or(cmp.Compare(r.rank[b.To], r.rank[a.To]), cmp.Compare(b.From, a.From))
	})
	before, needed := newClosure(len(l.order)), *s
	needed.Waits = slices.Clone(s.Waits)
	for _, d := range extra {
		all := needed.Waits[d.To]
		i := slices.Index(all, d.From)
		if i < 0 {
			continue
		}
		if needed.Waits[d.To] = slices.Delete(slices.Clone(all), i, i+1); !before.implies(&needed) {
			needed.Waits[d.To] = all
			continue
		}
		if s.Delays == nil {
			s.Delays = make([][]ir.OpID, len(l.order))
		}
		s.Delays[d.To] = append(s.Delays[d.To], d.From)
	}
	for _, delays := range s.Delays {
		slices.Sort(delays)
	}
}

// keepLeast replaces the required waits of s by those of the pass syncs if these are fewer. A deliberate wait can
// imply required waits in part, so that the sum may be smaller.
func keepLeast(s *ir.Schedule) {
	least, needed := *s, s.Syncs()
	for _, delays := range s.Delays {
		needed -= len(delays)
	}
	if synchronize(&least); least.Syncs() >= needed {
		return
	}
	s.Delays = make([][]ir.OpID, len(s.Waits))
	for v, waits := range s.Waits {
		for _, u := range waits {
			if !slices.Contains(least.Waits[v], u) {
				s.Delays[v] = append(s.Delays[v], u)
			}
		}
		s.Waits[v] = slices.Concat(least.Waits[v], s.Delays[v])
		slices.Sort(s.Waits[v])
	}
}
