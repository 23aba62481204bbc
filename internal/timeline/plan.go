package timeline

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Planner plans a program for a device.
type Planner struct {
	program *Program
	profile *model.Profile // nil for the default one
	costs   optimizer.CostModel
}

// NewPlanner returns a planner. On a simulated device, it replays the program serially to measure the demand of each
// launch. A program with loops or branches is planned by estimates.
func NewPlanner(ctx context.Context, dev device.Device, p *Program) (*Planner, error) {
	plan := &Planner{program: p, profile: model.Of(dev)}
	simulated, ok := dev.(*sim.Device)
	if !ok || slices.ContainsFunc(p.Graph.Ops, func(op ir.Op) bool { return op.Control != nil }) {
		return plan, nil
	}
	serial, err := plan.Plan("serial", graphexec.Streams)
	if err != nil {
		return nil, err
	}
	t, err := Record(ctx, dev, p, serial.Schedule, graphexec.Streams)
	if err != nil {
		return nil, err
	}
	var launches []model.Demand // in program order, because the plan is serial
	for i := range t.Spans {
		if l := t.Spans[i].Work.Launched; l != nil {
			launches = append(launches, l.Demand)
		}
	}
	m, err := costmodel.NewMeasurement(p.Graph, simulated.Profile(), launches)
	if err != nil {
		return nil, err
	}
	plan.costs = costmodel.Measured(simulated.Profile(), m)
	return plan, nil
}

// Plan plans the program with a strategy and optional passes for a form of replay. The result has a bound.
func (p *Planner) Plan(strategy string, form graphexec.Backend, also ...string) (*optimizer.Result, error) {
	return optimizer.Plan(p.program.Graph, optimizer.Options{
		Strategy: strategy, Streams: form == graphexec.Streams, Custom: p.profile, Costs: p.costs, Also: also, Verify: true, Bound: true,
	})
}
