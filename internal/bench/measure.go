package bench

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Measure replays the program one operation after another. Later plans then use the demands of its launches. Only a
// simulated device can measure demands; plans for other devices use estimates.
func (in *Instance) Measure(ctx context.Context, dev device.Device) error {
	simulated, ok := dev.(*sim.Device)
	if !ok {
		return nil
	}
	plan, err := in.Plan(dev, serial, graphexec.Streams)
	if err != nil {
		return err
	}
	seen, err := watchReplay(ctx, simulated, in, plan.Schedule, graphexec.Streams)
	if err != nil {
		return err
	}
	g := plan.Schedule.Graph
	m := optimizer.NewMeasurement(g, simulated.Profile())
	ops := plan.Schedule.Order // the program order, because the plan is serial
	for _, w := range seen.work {
		if w.Launched == nil {
			continue
		}
		for g.Ops[ops[0]].Launch == nil {
			ops = ops[1:]
		}
		m.Add(g, ops[0], w.Launched.Demand)
		ops = ops[1:]
	}
	in.Measured = m
	return nil
}
