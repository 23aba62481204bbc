package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// priorities gives launches on the longest path multiprocessors before others. The criterion
// is slack: the time by which an operation may end later without delaying the end of the replay, if
// nothing shared the device (J. E. Kelley, "Critical-Path Planning and Scheduling:
// Mathematical Basis", Operations Research 9, 1961). Lanes and waits count as
// dependencies.
//
//	0 ─► 1 ─► 2 ─┐         took   0: 2, 1: 3, 2: 2, 3: 4, 4: 1
//	3 ───────────┴► 4      slack  3 for operation 3, none for the others
//
// GPUs have few priority levels. Two assignments are tried: two levels, which separate the longest
// path, and six levels, by slack. The one with the shorter predicted replay is kept, unless the
// replay is predicted to be as short without priorities.
func priorities(s *ir.Schedule, opts *Options) error {
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return nil // the pass predict reports the error
	}
	s.Priority = nil
	best := f.makespan(s)
	slack := f.slack(s)
	var chosen []int32
	for _, levels := range []int32{2, mostUrgent + 1} {
		s.Priority = bySlack(s.Graph, slack, levels)
		if took := f.makespan(s); took < best {
			best, chosen = took, s.Priority
		}
	}
	s.Priority = chosen
	return nil
}

// mostUrgent is the largest priority, with inverted sign, of GPUs since compute capability 7.0. A GPU
// with fewer levels clamps priorities to its range.
const mostUrgent = 5

// slack returns, by operation, how long its start can be delayed without delaying the end of the replay.
func (f *forecast) slack(s *ir.Schedule) []model.Time {
	gap := f.profile.GraphEdgeGap
	if f.streams {
		gap = f.profile.StreamGap
	}
	took, preds := alone(s.Graph, f.profile, f.costs), schedules.Predecessors(s)
	start := make([]model.Time, len(took))
	end := model.Time(0)
	for _, v := range s.Order {
		for _, u := range preds[v] {
			start[v] = max(start[v], start[u]+took[u]+gap)
		}
		end = max(end, start[v]+took[v])
	}
	latest := make([]model.Time, len(took)) // by operation: its latest start
	for v := range latest {
		latest[v] = end - took[v]
	}
	for i := len(s.Order) - 1; i >= 0; i-- {
		v := s.Order[i]
		for _, u := range preds[v] {
			latest[u] = min(latest[u], latest[v]-gap-took[u])
		}
	}
	for v := range latest {
		latest[v] -= start[v]
	}
	return latest
}

// bySlack gives launches one of a number of priorities. Those without slack are the most urgent; for the others,
// the range from 0 to the largest slack is divided evenly among the remaining levels.
func bySlack(g *ir.Graph, slack []model.Time, levels int32) []int32 {
	most := model.Time(1)
	for v := range g.Ops {
		if g.Ops[v].Launch != nil {
			most = max(most, slack[v])
		}
	}
	priority := make([]int32, g.Len())
	for v := range g.Ops {
		if g.Ops[v].Launch == nil {
			continue
		}
		level := int32(0)
		if slack[v] > 0 {
			level = 1 + int32(float64(levels-1)*float64(slack[v]-1)/float64(most))
		}
		priority[v] = level - (levels - 1)
	}
	return priority
}
