package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// LowerBound is a time, in nanoseconds, below which no schedule of g is predicted: what
// launching so many operations takes, and then the longer of
//
//	the critical path    each operation alone on the device, an edge between two
//	work ÷ capacity      the busiest of multiprocessors, memory, links and copy engines
//
// The graph must be past the pass hazards. Options say for which device and at what
// costs; nothing else of them counts.
func LowerBound(g *ir.Graph, opts Options) (int64, error) {
	p, err := opts.profile()
	if err != nil {
		return 0, err
	}
	costs := opts.Costs
	if costs == nil {
		costs = DeclaredCosts(p)
	}
	if err := foreseeable(g, p, costs); err != nil {
		return 0, err
	}
	busy := des.NewBusy(p)
	alone := soloist{p, map[des.Demand]des.Time{}}
	ends := make([]des.Time, g.Len())
	critical := des.Time(0)
	for v := range ends {
		for _, d := range g.DepsInto(ir.OpID(v)) {
			ends[v] = max(ends[v], ends[d.From]+p.GraphEdgeGap)
		}
		demand := costs.Demand(g, ir.OpID(v))
		busy.Add(demand)
		ends[v] += alone.took(demand)
		critical = max(critical, ends[v])
	}
	launch := p.Host.GraphLaunch + p.SubmitLatency + des.Time(g.Len())*p.Host.GraphNode
	return int64((launch + max(critical, busy.Most())) / des.Nanosecond), nil
}

// soloist knows how long a task takes on a device that does nothing else. Programs repeat
// themselves, so it remembers.
type soloist struct {
	profile *des.Profile
	known   map[des.Demand]des.Time
}

func (s *soloist) took(d des.Demand) des.Time {
	if d.Kind == des.Fixed {
		return d.Duration
	}
	t, ok := s.known[d]
	if !ok {
		e := des.New(s.profile, func(des.TaskID, any) des.Demand { return d })
		e.Add(des.Task{})
		t = e.Drain()
		s.known[d] = t
	}
	return t
}
