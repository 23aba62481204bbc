package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// asGraph simulates one replay of s as an explicit graph.
//
//	prefetches ─► launch ─► submit ─► op ─► edge gap ─► op ...
//	 host          host                device
//
// The edges of the graph are those of the schedule: from the predecessor on the
// lane, and from waits. The simulated device has the same rules. A graph cannot contain
// prefetches, so that leading ones are enqueued before it, one after another.
func (f *forecast) asGraph(s *ir.Schedule) (last model.Time, ends []model.Time) {
	p := f.profile
	var started []ir.OpID // by task
	e := des.New(p, func(id des.TaskID, _ any) model.Demand {
		if v := started[id]; v >= 0 {
			return f.costs.Demand(s.Graph, v)
		}
		return model.Demand{Kind: model.Marker}
	})
	add := func(v ir.OpID, t des.Task) des.TaskID {
		started = append(started, v)
		return e.Add(t)
	}
	before, nodes, preds := aroundGraph(s)
	task := make([]des.TaskID, s.Graph.Len()) // by operation
	var host model.Time
	var stream []des.TaskID
	for _, v := range before {
		host += p.Host.Memcpy
		task[v] = add(v, des.Task{Arrival: host + p.SubmitLatency, Gap: p.StreamGap, Deps: stream})
		stream = task[v : v+1]
	}
	arrival := host + launchTime(nodes, preds, p)
	if len(before) > 0 {
		stream = []des.TaskID{add(-1, des.Task{Arrival: arrival, Gap: p.GraphRootGap, Deps: stream})}
	}
	var deps []des.TaskID
	for _, v := range nodes {
		t := des.Task{Arrival: arrival, Deps: stream}
		if len(preds[v]) > 0 {
			deps = deps[:0]
			for _, u := range preds[v] {
				deps = append(deps, task[u])
			}
			t.Gap, t.Deps = p.GraphEdgeGap, deps
		}
		if s.Priority != nil {
			t.Priority = s.Priority[v]
		}
		task[v] = add(v, t)
	}
	return e.Drain(), endsOf(e, task)
}

// endsOf returns the ends of tasks.
func endsOf(e *des.Engine, tasks []des.TaskID) []model.Time {
	ends := make([]model.Time, len(tasks))
	for v, id := range tasks {
		ends[v] = e.Span(id).End
	}
	return ends
}

// aroundGraph separates the prefetches that are enqueued before a graph (see aheadOfGraph) from its
// nodes. In the predecessors of a node, such a prefetch is replaced by its own
// predecessors.
func aroundGraph(s *ir.Schedule) (before, nodes []ir.OpID, preds [][]ir.OpID) {
	preds = schedules.Predecessors(s)
	if !has(s.Graph, isPrefetch) {
		return nil, s.Order, preds
	}
	is := aheadOfGraph(s.Graph)
	for _, v := range s.Order {
		var through []ir.OpID
		for _, u := range preds[v] {
			if is[u] {
				through = append(through, preds[u]...)
			} else {
				through = append(through, u)
			}
		}
		slices.Sort(through)
		preds[v] = slices.Compact(through)
		if is[v] {
			before = append(before, v)
		} else {
			nodes = append(nodes, v)
		}
	}
	return before, nodes, preds
}

// aheadOfGraph reports, by operation, whether it is a prefetch preceded by prefetches only.
func aheadOfGraph(g *ir.Graph) []bool {
	is := make([]bool, g.Len())
	for v := range is {
		is[v] = g.Ops[v].Kind == ir.KindPrefetch &&
			!slices.ContainsFunc(g.DepsInto(ir.OpID(v)), func(d ir.Dep) bool { return !is[d.From] })
	}
	return is
}

// launchTime returns when the device may start: the time of the host's call, which grows with each
// node, and more with each node that does not continue a chain, plus the submission.
func launchTime(order []ir.OpID, preds [][]ir.OpID, p *model.Profile) model.Time {
	succs := make([]int32, len(preds))
	for _, us := range preds {
		for _, u := range us {
			succs[u]++
		}
	}
	t := p.Host.GraphLaunch + p.SubmitLatency + model.Time(len(order))*p.Host.GraphNode
	for i, v := range order {
		if us := preds[v]; i > 0 && (len(us) != 1 || succs[us[0]] != 1) {
			t += p.Host.GraphBranch
		}
	}
	return t
}
