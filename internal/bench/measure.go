package bench

import (
	"context"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// editing lists the passes that change the operations of a program. A measurement is of all operations of the trace.
var editing = []string{"copyelim", "dce", "merge", "slice", "segment"}

// edits reports whether a pass is one of them.
func edits(pass string) bool {
	name, _, _ := strings.Cut(pass, "(")
	return slices.Contains(editing, name)
}

// Measure replays the program one operation after another. Later plans then use the demands of its launches. Only a
// simulated device can measure demands; plans for other devices, and of programs with loops or branches, use estimates.
func (in *Instance) Measure(ctx context.Context, dev device.Device) error {
	simulated, ok := dev.(*sim.Device)
	if !ok {
		return nil
	}
	whole := *in
	whole.Also = slices.DeleteFunc(slices.Clone(in.Also), edits)
	plan, err := whole.Plan(dev, serial, graphexec.Streams)
	if err != nil {
		return err
	}
	seen, err := watchReplay(ctx, simulated, in, plan.Schedule, graphexec.Streams)
	if err != nil {
		return err
	}
	var launches []model.Demand // in program order, because the plan is serial
	for _, w := range seen.work {
		if w.Launched != nil {
			launches = append(launches, w.Launched.Demand)
		}
	}
	in.Uncertainty = seen.uncertainty(simulated.Profile())
	if Control(plan.Schedule.Graph) > 0 { // the launches of bodies, and of conditions, are not those of the operations
		return nil
	}
	in.Measured, err = costmodel.NewMeasurement(plan.Schedule.Graph, simulated.Profile(), launches)
	return err
}

// Control counts the loops and branches of a program.
func Control(g *ir.Graph) (n int) {
	for i := range g.Ops {
		if g.Ops[i].Control != nil {
			n++
		}
	}
	return n
}
