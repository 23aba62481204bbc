package timeline

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/names"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/uncertainty"
	"github.com/reprise-gpu/reprise/ir"
)

// Program is a program on a device.
type Program struct {
	Name  string
	Graph *ir.Graph
	Bound traced.Bindings
	Reset func() error // writes the inputs
}

// settle is the number of replays before the recorded one, so that caches are in their steady state.
const settle = 2

// Record replays a schedule of the program three times and records the third replay. On a simulated device it records
// the given form. On any other device it records form graphexec.Streams, with events.
func Record(ctx context.Context, dev device.Device, p *Program, s *ir.Schedule, form graphexec.Backend) (*Timeline, error) {
	t := &Timeline{Program: p.Name, Device: dev.Info().ID, Strategy: s.Strategy, Schedule: s}
	var err error
	if d, ok := dev.(*sim.Device); ok {
		t.Source, t.Backend = Simulated, form.String()
		err = t.simulate(ctx, d, p, form)
	} else {
		t.Source, t.Backend = Events, graphexec.Streams.String()
		err = t.time(ctx, dev, p)
	}
	if err != nil {
		return nil, fmt.Errorf("timeline of %s with %s/%s: %w", p.Name, t.Strategy, t.Backend, err)
	}
	return t, nil
}

// simulate records a replay on a simulated device.
func (t *Timeline) simulate(ctx context.Context, dev *sim.Device, p *Program, form graphexec.Backend) (err error) {
	exec, err := graphexec.Instantiate(dev, t.Schedule, p.Bound, form)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := warmUp(ctx, p, exec); err != nil {
		return err
	}
	dev.StartTimeline()
	if err := replay(ctx, exec); err != nil {
		return err
	}
	total, steps, work := dev.Timeline()
	t.Total, t.Usage = total, dev.Usage()
	t.follow(steps, t.place(work, names.Of(exec)))
	var shares []uncertainty.Share
	for _, s := range steps {
		shares = append(shares, uncertainty.Share{Limit: s.Limit, PS: s.Took})
	}
	t.Uncertainty = uncertainty.Of(shares, dev.Profile())
	return nil
}

// warmUp replays until the caches are in their steady state, and writes the inputs once more.
func warmUp(ctx context.Context, p *Program, exec *graphexec.Exec) error {
	for range settle {
		if err := p.Reset(); err != nil {
			return err
		}
		if err := replay(ctx, exec); err != nil {
			return err
		}
	}
	return p.Reset()
}

func replay(ctx context.Context, exec *graphexec.Exec) error {
	if err := exec.Replay(ctx); err != nil {
		return err
	}
	return exec.Wait(ctx)
}

// place makes the spans of the work of operations, and returns the index of each by the ID of its work.
func (t *Timeline) place(work []sim.Work, operations map[string]names.Place) map[int64]int {
	spans := map[int64]int{}
	for i := range work {
		w := &work[i]
		at, iteration, ok := names.Find(operations, w.Name)
		if !ok {
			continue // the back end's own work
		}
		spans[w.ID] = len(t.Spans)
		t.Spans = append(t.Spans, Span{
			Schedule: at.Schedule, Op: at.Op, Name: at.Name, Path: at.Path, Body: at.Body, Iteration: iteration,
			Engine: engineOf(&at.Schedule.Graph.Ops[at.Op], at.Schedule.Graph, w.Transfer),
			Ready:  w.End - w.Took, Begin: w.Begin, End: w.End, Work: w,
		})
	}
	return spans
}

// engineOf returns the engine of an operation.
func engineOf(op *ir.Op, g *ir.Graph, transfer bool) Engine {
	switch op.Kind {
	case ir.KindHost:
		return Host
	case ir.KindLoop, ir.KindBranch:
		return Decision
	case ir.KindMemset:
		return Memory
	case ir.KindPrefetch:
		if op.Prefetch.ToDevice {
			return CopyIn
		}
		return CopyOut
	case ir.KindCopy:
		switch toHost := g.Buffers[op.Copy.Dst.Buffer].Place.Kind != ir.OnDevice; {
		case !transfer:
			return Memory
		case toHost:
			return CopyOut
		}
		return CopyIn
	}
	return Multiprocessors
}

// follow stores the critical path, and its part in each span.
func (t *Timeline) follow(steps []sim.Step, spans map[int64]int) {
	at := int64(0)
	for _, s := range steps {
		step := Step{Span: -1, Before: s.Before, Begin: at, Took: s.Took, Limit: s.Limit, Cause: s.Cause}
		at += s.Took
		if i, ok := spans[s.Work]; ok {
			step.Span = i
			if s.Before {
				t.Spans[i].Gap += s.Took
			} else {
				t.Spans[i].OnPath += s.Took
			}
		}
		t.Steps = append(t.Steps, step)
	}
}
