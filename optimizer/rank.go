package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// model returns the device to plan for and the costs of operations on it. It returns an error if the operations
// of g exceed the horizon.
func (o *Options) model(g *ir.Graph) (*model.Profile, CostModel, error) {
	p, err := o.profile()
	if err != nil {
		return nil, nil, err
	}
	costs := o.Costs
	switch {
	case costs != nil:
	case o.Measured == nil:
		costs = newDeclaredCosts(p)
	case o.Measured.Device != p.ID:
		return nil, nil, fmt.Errorf("the costs were measured on sim:%s, but the plan is for sim:%s: measure there, or leave out Profile and Custom", o.Measured.Device, p.ID)
	default:
		costs = newMeasuredCosts(p, o.Measured)
	}
	if m, ok := costs.(measuredCosts); ok {
		m.roomy = o.roomy
		costs = m
	}
	if g.Sliced != nil {
		costs = sliceCosts{costs}
	}
	switch {
	case o.bodies != nil:
		costs = newControlCosts(costs, p, o.bodies.times(), o)
	case o.times != nil:
		costs = newControlCosts(costs, p, o.times, o)
	}
	return p, costs, checkHorizon(g, p, costs)
}

// guessed reports whether the times of kernels are estimates.
func (o *Options) guessed() bool {
	m, estimated := o.Costs.(*declaredCosts)
	return o.Costs == nil && o.Measured == nil || estimated && m.undeclared
}

// took returns how long one demand takes on an idle device.
func took(p *model.Profile, d model.Demand) model.Time {
	e := des.New(p, func(des.TaskID, any) model.Demand { return d })
	e.Add(des.Task{})
	return e.Drain()
}

// alone returns how long each operation takes when it has the device to itself.
func alone(g *ir.Graph, p *model.Profile, costs CostModel) []model.Time {
	took := make([]model.Time, g.Len())
	e := des.New(p, func(id des.TaskID, _ any) model.Demand { return costs.Demand(g, ir.OpID(id)) })
	e.OnEnd(func(r *des.Record) { took[r.ID] = r.Span.End - r.Start })
	last := []des.TaskID{}
	for range took {
		last = []des.TaskID{e.Add(des.Task{Deps: last})}
	}
	e.Drain()
	return took
}

// earliest returns when each operation starts if only its dependencies delay it. Each dependency adds
// a gap.
func earliest(g *ir.Graph, took []model.Time, gap model.Time) []model.Time {
	start := make([]model.Time, g.Len())
	for v := range start {
		for _, d := range g.DepsInto(ir.OpID(v)) {
			start[v] = max(start[v], start[d.From]+took[d.From]+gap)
		}
	}
	return start
}

// upwardRanks returns, by operation, the longest path from its start to the end of the program, which is
// a lower bound of the remaining time once it has started (Topcuoglu, Hariri and Wu,
// "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing",
// IEEE TPDS 2002).
func upwardRanks(g *ir.Graph, took []model.Time, gap model.Time) []model.Time {
	rank := make([]model.Time, g.Len())
	for v := g.Len() - 1; v >= 0; v-- {
		for _, w := range g.Succs(ir.OpID(v)) {
			rank[v] = max(rank[v], gap+rank[w])
		}
		rank[v] += took[v]
	}
	return rank
}

// orderBy returns the topological order in which ready operations are sorted by their time, then by id.
func orderBy(g *ir.Graph, at []model.Time) []ir.OpID { return dense.Order(g.Succs, at) }
