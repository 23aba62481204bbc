package report

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
)

// Options selects what a report shows.
type Options struct {
	Tool       string // name and version of the program that writes it
	Strategies []string
	Backends   []graphexec.Backend
	Progress   func(what string, done, total int) // may be nil
}

// Collect plans a program with each strategy for each back end, replays each plan on the device, and returns the content of a
// report. On a device that is not simulated, the only back end is Streams.
func Collect(ctx context.Context, dev device.Device, src *timeline.Program, o Options) (*Data, error) {
	d := &Data{Format: "reprise-report 1", Tool: o.Tool, Program: src.Name, Device: dev.Info().ID, Name: dev.Info().Name, Groups: []Group{}, Edges: []Edge{}}
	planner, err := timeline.NewPlanner(ctx, dev, src)
	if err != nil {
		return nil, err
	}
	var p *program
	done, total := 0, len(o.Strategies)*len(o.Backends)
	for _, form := range o.Backends {
		for _, strategy := range o.Strategies {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r, err := planner.Plan(strategy, form)
			if err != nil {
				return nil, fmt.Errorf("%s/%v: %w", strategy, form, err)
			}
			shared, err := planner.Plan(strategy, form, "memplan")
			if err != nil {
				return nil, fmt.Errorf("%s/%v with memplan: %w", strategy, form, err)
			}
			t, err := timeline.Record(ctx, dev, src, r.Schedule, form)
			if err != nil {
				return nil, err
			}
			if p == nil {
				p = newProgram(d, r)
			}
			plan := p.plan(r, shared, t)
			plan.Strategy = strategy
			d.Source, d.Plans = string(t.Source), append(d.Plans, plan)
			if done++; o.Progress != nil {
				o.Progress(strategy+"/"+form.String(), done, total)
			}
		}
	}
	d.divide()
	d.draw()
	return d, nil
}

// timelineNumber returns the number of an operation of the whole program in the text form.
func timelineNumber(v int) string { return ir.OpID(v).String() }
