package optimizer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// predict sets the makespan of one replay: the schedule as an explicit graph,
// launched on an idle device and simulated with the demands of the cost model.
//
//	launch ─► submit ─► op ─► edge gap ─► op ...
//	 host                device
//
// An edge of that graph is what the schedule says and no more: the operation
// before on the lane, and the waits. The simulated device counts in the same way.
func predict(s *ir.Schedule, opts *Options) error {
	profile, costs, err := opts.model(s.Graph)
	if err != nil {
		return err
	}
	s.Profile = profile.ID
	s.Predicted = int64(makespan(s, profile, costs) / des.Nanosecond)
	return nil
}

// farthest is how far ahead a prediction looks, in picoseconds: half of what the
// clock holds, so that no sum of its times overflows. It is 53 days.
const farthest = 1 << 62

// foreseeable refuses a graph whose operations, with every block one by one,
// would take longer than that.
func foreseeable(g *ir.Graph, p *des.Profile, costs CostModel) error {
	total := 0.0
	for i := range g.Ops {
		v := ir.OpID(i)
		took := float64(max(0, g.Ops[i].Cost)) * float64(des.Nanosecond)
		if g.Ops[i].Cost < 0 {
			took = longest(costs.Demand(g, v), p)
		}
		if total += took; total > farthest {
			return fmt.Errorf("with %v the operations add up to more than 53 days, which is as far as a prediction goes: leave the pass predict out, or mend the cost or the grid", v)
		}
	}
	return nil
}

// longest bounds the time of a demand from above: its blocks one after another,
// then its instructions on one multiprocessor, then its bytes.
func longest(d des.Demand, p *des.Profile) float64 {
	cycles := d.Blocks*max(d.BlockCycles, d.SlowestCycles) + 32*d.Work.Total() // a lane a cycle
	slowest := min(p.LinkGBps, p.SMGBps, p.MemoryGBps)
	if p.FaultGBps > 0 {
		slowest = min(slowest, p.FaultGBps)
	}
	seconds := cycles/(float64(p.ClockMHz)*1e6) + (d.Bytes+d.Faulted+d.Bulk)/(slowest*1e9)
	return float64(d.Duration) + seconds*float64(des.Second)
}

// makespan simulates one replay of s from the host's call to the last end.
func makespan(s *ir.Schedule, p *des.Profile, costs CostModel) des.Time {
	last, _ := simulate(s, p, costs)
	return last
}

// simulate is makespan with the end of each operation.
func simulate(s *ir.Schedule, p *des.Profile, costs CostModel) (last des.Time, ends []des.Time) {
	e := des.New(p, func(id des.TaskID, _ any) des.Demand {
		return costs.Demand(s.Graph, s.Order[id]) // tasks are added in order
	})
	ends = make([]des.Time, s.Graph.Len())
	e.OnEnd(func(r *des.Record) { ends[s.Order[r.ID]] = r.Span.End })
	preds := predecessors(s)
	arrival := launchTime(s.Order, preds, p)
	task := make([]des.TaskID, s.Graph.Len()) // by operation
	var deps []des.TaskID
	for _, v := range s.Order {
		t := des.Task{Arrival: arrival, Gap: p.GraphEdgeGap}
		if s.Priority != nil {
			t.Priority = s.Priority[v]
		}
		deps = deps[:0]
		for _, u := range preds[v] {
			deps = append(deps, task[u])
		}
		t.Deps = deps
		task[v] = e.Add(t)
	}
	return e.Drain(), ends
}

// predecessors lists, by operation, the edges a schedule becomes: the waits and
// the operation before it on its lane.
func predecessors(s *ir.Schedule) [][]ir.OpID {
	preds := make([][]ir.OpID, s.Graph.Len())
	last := make([]ir.OpID, s.Lanes)
	for i := range last {
		last[i] = -1
	}
	for _, v := range s.Order {
		lane := s.Lane[v]
		preds[v] = s.Waits[v]
		if u := last[lane]; u >= 0 {
			preds[v] = append(slices.Clip(s.Waits[v]), u)
		}
		last[lane] = v
	}
	return preds
}

// launchTime is when the device may start: the host's launch of a graph, dearer
// by the node and more so by the node that does not merely continue a chain.
func launchTime(order []ir.OpID, preds [][]ir.OpID, p *des.Profile) des.Time {
	succs := make([]int32, len(preds))
	for _, us := range preds {
		for _, u := range us {
			succs[u]++
		}
	}
	t := p.Host.GraphLaunch + p.SubmitLatency + des.Time(len(order))*p.Host.GraphNode
	for i, v := range order {
		if us := preds[v]; i > 0 && (len(us) != 1 || succs[us[0]] != 1) {
			t += p.Host.GraphBranch
		}
	}
	return t
}

// profile is the device to predict for.
func (o *Options) profile() (*des.Profile, error) {
	switch {
	case o.Custom != nil:
		return o.Custom, nil
	case o.Profile == "":
		return des.Profiles()[0], nil
	}
	return des.Lookup(o.Profile)
}
