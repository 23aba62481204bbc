package bench

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/sim"
)

// Measure replays the program one operation after another, and has later plans go by what
// its launches asked of the device. Only a simulated device counts that; on others plans go
// by estimates.
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
	counted := map[ir.OpID]des.Demand{}
	ops := plan.Schedule.Order
	for _, w := range seen.work {
		if w.Launched == nil {
			continue
		}
		for plan.Schedule.Graph.Ops[ops[0]].Launch == nil {
			ops = ops[1:]
		}
		counted[ops[0]] = w.Launched.Demand
		ops = ops[1:]
	}
	in.counted = counted
	return nil
}
