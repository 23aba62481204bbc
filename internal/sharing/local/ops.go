package local

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Ops is a program whose operations are submitted one by one, in program order. Each is a unit.
type Ops struct {
	dev   device.Device
	work  []device.Work
	units []sharing.Unit
}

// NewOps returns the operations of a graph. Buffers without memory are allocated. The operations run one after another, to
// measure their times: once, or a few times on a device in real time.
func NewOps(dev device.Device, g *ir.Graph, bound traced.Bindings) (*Ops, error) {
	for b := range g.Buffers {
		if err := bound.Allocate(ir.BufferID(b)); err != nil {
			return nil, err
		}
	}
	o := &Ops{dev: dev}
	for i := range g.Ops {
		if k := g.Ops[i].Kind; k == ir.KindLoop || k == ir.KindBranch {
			return nil, fmt.Errorf("operation %d: a %v is not submitted by itself: use a program of launches, copies, fills and host calls", i, k)
		}
		w, err := lower.Recorded(dev, g, ir.OpID(i), bound)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		o.work = append(o.work, w)
	}
	return o, o.measure()
}

// Units implements Work.
func (o *Ops) Units() []sharing.Unit { return o.units }

// Submit implements Work.
func (o *Ops) Submit(s device.Stream, first, n int) error {
	for _, w := range o.work[first : first+n] {
		if err := o.dev.Submit(s, w); err != nil {
			return err
		}
	}
	return nil
}

// measure runs each operation alone, between two events.
func (o *Ops) measure() (err error) {
	s, err := o.dev.CreateStream(0)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, o.dev.DestroyStream(s)) }()
	for _, w := range o.work {
		var times []time.Duration
		for range runs(o.dev) {
			t, err := Timed(o.dev, s, func() error { return o.dev.Submit(s, w) })
			if err != nil {
				return err
			}
			times = append(times, t)
		}
		o.units = append(o.units, sharing.Unit{Time: slices.Min(times), SMs: multiprocessors(o.dev, w)})
	}
	return nil
}

// runs returns how often work is timed.
func runs(dev device.Device) int {
	if dev.Info().Simulated {
		return 1
	}
	return 3
}

// Timed returns the time of work alone on a device, between two events.
func Timed(dev device.Device, s device.Stream, submit func() error) (took time.Duration, err error) {
	var events []device.Event
	defer func() {
		for _, e := range events {
			err = device.Join(err, dev.DestroyEvent(e))
		}
	}()
	for range 2 {
		e, err := dev.CreateEvent()
		if err != nil {
			return 0, err
		}
		events = append(events, e)
	}
	if err := device.Join(dev.Record(events[0], s), submit(), dev.Record(events[1], s), dev.Synchronize(s)); err != nil {
		return 0, err
	}
	return dev.Elapsed(events[0], events[1])
}

// multiprocessors returns how many multiprocessors the blocks of a launch fill, if each holds blocks of 2048 threads. It
// is 0 for other work.
func multiprocessors(dev device.Device, w device.Work) int {
	l, ok := w.(*device.Launch)
	if !ok {
		return 0
	}
	const threads = 2048
	each := max(1, threads/max(1, l.Block.Count()))
	return int(min(uint64(dev.Info().Multiprocessors), (l.Grid.Count()+each-1)/each))
}
