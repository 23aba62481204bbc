package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// onStreams simulates one replay of s over one stream per lane. The host makes the calls for
// operations, waits and events one after another. An operation cannot start before its
// call:
//
//	host      op ─ event ─ op ─ wait ─ op ─ … ─ synchronize with the open streams
//	lane 0  ·· op ────────────────┐
//	lane 1  ················ op   └─────► op
//
// The host then synchronizes with one open stream after the other. The cost of the last
// synchronization is omitted, as for graphs.
func (f *forecast) onStreams(s *ir.Schedule) (last model.Time, ends []model.Time) {
	h := streamHost{profile: f.profile, records: schedules.Records(s), task: make([]des.TaskID, s.Graph.Len())}
	ops := map[des.TaskID]ir.OpID{}
	demand := make([]model.Demand, s.Graph.Len())
	h.engine = des.New(f.profile, func(id des.TaskID, _ any) model.Demand {
		if v, ok := ops[id]; ok {
			return demand[v]
		}
		return model.Demand{Kind: model.Marker}
	})
	for v := range demand {
		demand[v] = f.costs.Demand(s.Graph, ir.OpID(v))
	}
	tail := make([]des.TaskID, s.Lanes)
	for lane := range tail {
		tail[lane] = des.NoTask
	}
	for group := range schedules.Groups(s) {
		h.enqueue(s, group, &tail[s.Lane[group[0]]])
		for _, v := range group {
			ops[h.task[v]] = v
		}
	}
	return h.finish(s), endsOf(h.engine, h.task)
}

// streamHost is the state of the host while it enqueues.
type streamHost struct {
	profile *model.Profile
	engine  *des.Engine
	records []bool
	task    []des.TaskID // by operation
	now     model.Time   // end of the host's last call
	deps    []des.TaskID // scratch memory
}

// enqueue simulates the calls for a group of operations launched together. tail is the last task of their lane.
func (h *streamHost) enqueue(s *ir.Schedule, group []ir.OpID, tail *des.TaskID) {
	p := h.profile
	h.deps = h.deps[:0]
	if *tail != des.NoTask {
		h.deps = append(h.deps, *tail)
	}
	first, last := group[0], group[len(group)-1]
	for _, u := range s.Waits[first] {
		h.now += p.Host.EventWait
		h.deps = append(h.deps, h.engine.Add(des.Task{
			Arrival: h.now + p.SubmitLatency, Gap: max(0, p.EventGap-p.StreamGap), Deps: h.task[u : u+1],
		}))
	}
	gap, next := p.StreamGap, p.GraphEdgeGap
	if !asOneGraph(s.Graph, group) {
		h.now += callOf(&s.Graph.Ops[first], &p.Host)
	} else {
		h.now += groupCall(s.Graph, group, &p.Host)
		h.deps = []des.TaskID{h.engine.Add(des.Task{Arrival: h.now + p.SubmitLatency, Gap: p.GraphRootGap, Deps: h.deps})}
		gap = 0
	}
	for _, v := range group {
		t := des.Task{Arrival: h.now + p.SubmitLatency, Gap: gap, Deps: h.deps}
		if s.Priority != nil {
			t.Priority = s.Priority[v]
		}
		h.task[v] = h.engine.Add(t)
		h.deps, gap = h.task[v:v+1], next
	}
	h.deps = nil
	if h.records[last] {
		h.now += p.Host.EventRecord
	}
	*tail = h.task[last]
}

// asOneGraph reports whether a group is launched as a small graph: several operations, or a loop or a branch.
func asOneGraph(g *ir.Graph, group []ir.OpID) bool {
	return len(group) > 1 || g.Ops[group[0]].Control != nil
}

// groupCall returns the host's time in the call that launches a group as one graph.
func groupCall(g *ir.Graph, group []ir.OpID, h *model.HostCosts) model.Time {
	t := h.GraphLaunch
	for _, v := range group {
		if !nothing(&g.Ops[v]) {
			t += h.GraphNode
		}
	}
	return t
}

// callOf returns the host's time in the call for a single operation; an empty one needs no call.
func callOf(op *ir.Op, h *model.HostCosts) model.Time {
	if nothing(op) {
		return 0
	}
	return callTime(op, h)
}

// callTime returns the host's time in the call that enqueues an operation.
func callTime(op *ir.Op, h *model.HostCosts) model.Time {
	switch op.Kind {
	case ir.KindLaunch:
		return h.Launch
	case ir.KindMemset:
		return h.Memset
	case ir.KindHost:
		return h.HostCall
	case ir.KindCopy, ir.KindPrefetch:
		return h.Memcpy
	case ir.KindLoop, ir.KindBranch:
		return h.GraphLaunch + h.GraphNode
	}
	return 0
}

// finish returns when the host has synchronized with all lanes.
func (h *streamHost) finish(s *ir.Schedule) model.Time {
	last := h.engine.Drain()
	for i, v := range openEnds(s) {
		if i > 0 {
			h.now += h.profile.Host.Synchronize
		}
		h.now = max(h.now, h.engine.Span(h.task[v]).End)
	}
	return max(h.now, last)
}

// openEnds returns the last operations of the lanes whose ends no other lane waits for, in order of submission.
func openEnds(s *ir.Schedule) (ends []ir.OpID) {
	last := make([]ir.OpID, s.Lanes)
	for _, v := range s.Order {
		last[s.Lane[v]] = v
	}
	records := schedules.Records(s)
	for _, v := range s.Order {
		if last[s.Lane[v]] == v && !records[v] {
			ends = append(ends, v)
		}
	}
	return ends
}

// streamCalls returns the host's time in all calls of a replay over streams.
func (f *forecast) streamCalls(s *ir.Schedule) (total model.Time) {
	h := &f.profile.Host
	total = model.Time(s.Syncs())*h.EventWait + model.Time(len(openEnds(s)))*h.Synchronize
	for _, recorded := range schedules.Records(s) {
		if recorded {
			total += h.EventRecord
		}
	}
	for group := range schedules.Groups(s) {
		if asOneGraph(s.Graph, group) {
			total += groupCall(s.Graph, group, h)
		} else {
			total += callOf(&s.Graph.Ops[group[0]], h)
		}
	}
	return total
}

// nothing reports whether an operation has no work, so that no driver call is made for it.
func nothing(op *ir.Op) bool {
	switch op.Kind {
	case ir.KindEmpty:
		return true
	case ir.KindCopy:
		return op.Copy.Dst.Empty()
	case ir.KindMemset:
		return op.Memset.Dst.Empty()
	case ir.KindPrefetch:
		return op.Prefetch.Range.Empty()
	}
	return false
}
