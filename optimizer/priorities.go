package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// priorities has launches on the longest path get multiprocessors before others. The measure
// is slack: by how much an operation may end later and the replay end no later, if nothing
// had to share the device (J. E. Kelley, "Critical-Path Planning and Scheduling:
// Mathematical Basis", Operations Research 9, 1961). Lanes and waits count as
// dependencies here.
//
//	0 ─► 1 ─► 2 ─┐         took   0: 2, 1: 3, 2: 2, 3: 4, 4: 1
//	3 ───────────┴► 4      slack  3 for operation 3, none for the others
//
// GPUs have few levels, and so few are tried: two, which set the longest path apart, and
// six, by slack. A schedule gets those by which the replay is predicted to take least, and none
// when that is not less than without.
func priorities(s *ir.Schedule, opts *Options) error {
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return nil // predict says what cannot be foreseen, if it is asked to
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

// mostUrgent is the greatest priority of GPUs since compute capability 7.0, with its sign
// turned. A GPU with fewer levels takes what is beyond its range for the end of that.
const mostUrgent = 5

// slack is, by operation, for how long it can be put off.
func (f *forecast) slack(s *ir.Schedule) []model.Time {
	gap := f.profile.GraphEdgeGap
	if f.streams {
		gap = f.profile.StreamGap
	}
	took, preds := alone(s.Graph, f.profile, f.costs), predecessors(s)
	start := make([]model.Time, len(took))
	end := model.Time(0)
	for _, v := range s.Order {
		for _, u := range preds[v] {
			start[v] = max(start[v], start[u]+took[u]+gap)
		}
		end = max(end, start[v]+took[v])
	}
	latest := make([]model.Time, len(took)) // start
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

// bySlack gives launches one of so many priorities: those without slack the most urgent, and
// the others the rest by equal shares of the greatest slack that there is.
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
