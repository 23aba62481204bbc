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
	p, costs, err := opts.model(g)
	if err != nil {
		return 0, err
	}
	took := alone(g, p, costs)
	busy := des.NewBusy(p)
	ends := make([]des.Time, g.Len())
	critical := des.Time(0)
	for v := range ends {
		for _, d := range g.DepsInto(ir.OpID(v)) {
			ends[v] = max(ends[v], ends[d.From]+p.GraphEdgeGap)
		}
		busy.Add(costs.Demand(g, ir.OpID(v)))
		ends[v] += took[v]
		critical = max(critical, ends[v])
	}
	launch := p.Host.GraphLaunch + p.SubmitLatency + des.Time(g.Len())*p.Host.GraphNode
	return int64((launch + max(critical, busy.Most())) / des.Nanosecond), nil
}
