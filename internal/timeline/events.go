package timeline

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/names"
	"github.com/reprise-gpu/reprise/ir"
)

// errControl is the error for a program with loops or branches, whose iterations share the events.
var errControl = errors.New("events time no loops and branches: record the timeline on a simulated device, as sim")

// time records a replay over streams, with events around each operation.
func (t *Timeline) time(ctx context.Context, dev device.Device, p *Program) (err error) {
	if t.Schedule.Bodies != nil {
		return errControl
	}
	s := *t.Schedule
	s.Joined = nil // a graph of several operations has no events inside
	timed := &timedDevice{Device: dev, lists: map[device.CommandList]*timedList{}}
	defer func() { err = device.Join(err, timed.free()) }()
	exec, err := graphexec.Instantiate(timed, &s, p.Bound, graphexec.Streams)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := warmUp(ctx, p, exec); err != nil {
		return err
	}
	if err := timed.start(); err != nil {
		return err
	}
	start := dev.Now()
	if err := replay(ctx, exec); err != nil {
		return err
	}
	t.Total = ps(dev.Now() - start)
	return t.read(timed, names.Of(exec))
}

// read makes the spans from the events.
func (t *Timeline) read(timed *timedDevice, operations map[string]names.Place) error {
	for _, l := range timed.lists {
		for _, r := range l.runs {
			at, _, ok := names.Find(operations, labelOf(r.work))
			if !ok {
				continue
			}
			begin, err := timed.Elapsed(timed.origin, r.begin)
			if err != nil {
				return err
			}
			end, err := timed.Elapsed(timed.origin, r.end)
			if err != nil {
				return err
			}
			g := at.Schedule.Graph
			t.Spans = append(t.Spans, Span{
				Schedule: at.Schedule, Op: at.Op, Name: at.Name, Engine: engineOf(&g.Ops[at.Op], g, crosses(&g.Ops[at.Op], g)),
				Ready: ps(begin), Begin: ps(begin), End: ps(max(begin, end)),
			})
		}
	}
	slices.SortFunc(t.Spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Op, b.Op)) })
	return nil
}

// crosses reports whether a copy goes over the host link.
func crosses(op *ir.Op, g *ir.Graph) bool {
	return op.Kind == ir.KindCopy && (g.Buffers[op.Copy.Src.Buffer].Place.Kind == ir.OnDevice) != (g.Buffers[op.Copy.Dst.Buffer].Place.Kind == ir.OnDevice)
}
