package timings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Source is a recorded program to be measured on a device.
type Source struct {
	Name  string
	Graph *ir.Graph
	Bound traced.Bindings
	Reset func() error // writes the inputs; called before each replay
	// Replay runs the whole program once, and waits.
	Replay func(context.Context) error
}

// Options of Measure.
type Options struct {
	Replays int // at least 1, of the operations one by one, and as many of the whole program
	// Model states the resident blocks and the bound of kernels on a device that does not count what launches demand. It
	// may be nil: they are then unknown.
	Model    *Model
	Progress func(what string, done, total int) // may be nil
}

// ErrControl is in the error chain for a program with loops or branches, whose operations do not run one by one.
var ErrControl = errors.New("loops and branches are not measured: measure the program of a body alone")

// counter is a device that counts the demands of launches, as a simulated device does.
type counter interface {
	Profile() *model.Profile
	CountLaunches(run func() error) ([]model.Demand, error)
}

// Measure adds the times of a program on dev to t: of each operation when they run one after another, in program order,
// with events around each; of whole replays, on the host's clock; of the gaps between these, in which Reset runs, and of
// the times from one submission to the next. A first run of the operations is not recorded.
func (t *Timings) Measure(ctx context.Context, dev device.Device, src *Source, o Options) (err error) {
	for v := range src.Graph.Ops {
		if src.Graph.Ops[v].Control != nil {
			return fmt.Errorf("%s: %s is a %v: %w", src.Name, opname.Of(src.Graph).Of(ir.OpID(v)), src.Graph.Ops[v].Kind, ErrControl)
		}
	}
	m := &measurement{Source: src, Options: o, ctx: ctx, dev: dev, to: newProgram(src.Name)}
	if err := m.run(); err != nil {
		return fmt.Errorf("measure %s: %w", src.Name, err)
	}
	t.Add(signature.Of(src.Graph), src.Name).merge(m.to)
	return nil
}

// measurement is the state of Measure.
type measurement struct {
	*Source
	Options
	ctx   context.Context
	dev   device.Device
	watch *stopwatch
	work  []device.Work
	to    *Program
	done  int
}

func (m *measurement) run() (err error) {
	if err := m.prepare(); err != nil {
		return err
	}
	if m.watch, err = newStopwatch(m.dev); err != nil {
		return err
	}
	defer func() { err = device.Join(err, m.watch.close()) }()
	if err := m.operations(m.describe); err != nil {
		return err
	}
	m.step("operations")
	for range m.Replays {
		if err := m.operations(m.time); err != nil {
			return err
		}
		m.step("operations")
	}
	if err := m.complete(); err != nil {
		return err
	}
	return m.replays()
}

// prepare lowers the operations and allocates their records.
func (m *measurement) prepare() error {
	for b := range m.Graph.Buffers {
		if err := m.Bound.Allocate(ir.BufferID(b)); err != nil {
			return err
		}
	}
	for v := range m.Graph.Ops {
		op := &m.Graph.Ops[v]
		w, err := lower.Recorded(m.dev, m.Graph, ir.OpID(v), m.Bound)
		if err != nil {
			return fmt.Errorf("%v: %w", ir.OpID(v), err)
		}
		m.work = append(m.work, w)
		r := &Record{Kind: op.Kind.String(), Kernel: KernelOf(m.Graph, ir.OpID(v)), Time: NewSketch()}
		if op.Launch != nil {
			r.Blocks = op.Launch.Grid.Count()
		}
		m.to.Nodes[ir.OpID(v)] = r
	}
	return nil
}

// operations runs the operations one by one, each by run.
func (m *measurement) operations(run func(ir.OpID) error) error {
	if err := m.Reset(); err != nil {
		return err
	}
	for v := range m.work {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if err := run(ir.OpID(v)); err != nil {
			return fmt.Errorf("%v: %w", ir.OpID(v), err)
		}
	}
	return nil
}

func (m *measurement) step(what string) {
	m.done++
	if m.Progress != nil {
		m.Progress(m.Name+": "+what, m.done, 2*m.Replays+1)
	}
}

// time runs an operation and records its time, unless the host was late.
func (m *measurement) time(v ir.OpID) error {
	took, ok, err := m.watch.time(m.work[v])
	if ok {
		m.to.Nodes[v].Time.Record(took)
	}
	return err
}

// describe runs an operation and sets the resident blocks and the bound of a launch: as counted by the device, or else by
// the model.
func (m *measurement) describe(v ir.OpID) error {
	r := m.to.Nodes[v]
	c, counts := m.dev.(counter)
	run := func() error {
		_, _, err := m.watch.time(m.work[v])
		return err
	}
	switch {
	case r.Kernel == (Kernel{}):
		return run()
	case !counts:
		if m.Model != nil {
			guess := m.Model.Record(m.Graph, v)
			r.Resident, r.Bound = guess.Resident, guess.Bound
		}
		return run()
	}
	demands, err := c.CountLaunches(run)
	if err != nil {
		return err
	}
	d := &demands[len(demands)-1] // after the cover
	_, bound := alone(c.Profile(), *d)
	r.describe(d, bound)
	return nil
}

// maxRepeats is the number of additional runs for operations that have no times because the host was late in all runs.
const maxRepeats = 32

// complete runs the operations again while some have no time.
func (m *measurement) complete() error {
	for range maxRepeats {
		if m.coldest() < 0 {
			return nil
		}
		if err := m.operations(m.time); err != nil {
			return err
		}
	}
	return fmt.Errorf("%v has no time: the host takes too long to enqueue it; measure on a machine that is not busy", m.coldest())
}

// coldest returns the first operation without a time, -1 for none.
func (m *measurement) coldest() ir.OpID {
	for v := range ir.OpID(len(m.work)) {
		if m.to.Nodes[v].Time.Count() == 0 {
			return v
		}
	}
	return -1
}

// replays measures whole replays.
func (m *measurement) replays() error {
	var began, ended time.Duration
	for i := range m.Replays {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if err := m.Reset(); err != nil {
			return err
		}
		now := m.dev.Now()
		if i > 0 {
			m.to.Arrivals.Record(now - began)
			m.to.Gap(0).Record(now - ended)
		}
		began = now
		if err := m.Replay(m.ctx); err != nil {
			return err
		}
		ended = m.dev.Now()
		m.to.Replays.Record(ended - began)
		m.step("replays")
	}
	return nil
}
