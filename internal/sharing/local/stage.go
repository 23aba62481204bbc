package local

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Stage is a trace as work in the form that a policy requires.
type Stage struct {
	Work
	Alone time.Duration // of the whole stage, alone on the device
	close func() error
}

// NewStage plans and cuts a trace. It measures the times of the units: the trace runs once, or a few times on a device in
// real time.
func NewStage(dev device.Device, trace *tracer.Trace, form sharing.Form) (*Stage, error) {
	return StageOf(dev, trace, trace.Graph, form)
}

// StageOf is NewStage for a graph and a program that binds it to the device. The times by which it is cut are measured if the
// program is a trace, and else estimated.
func StageOf(dev device.Device, program traced.Program, g *ir.Graph, form sharing.Form) (*Stage, error) {
	if form.Unit == sharing.Kernels && form.Most == 0 {
		return newOpsStage(dev, program, g)
	}
	opts := optimizer.Options{}
	switch {
	case form.Unit == sharing.Segments:
		opts.Also = []string{fmt.Sprintf("segment(%dns)", form.Most.Nanoseconds())}
	case form.Unit == sharing.Kernels:
		opts.Strategy = "serial"
		opts.Also = []string{fmt.Sprintf("slice(%dns)", form.Most.Nanoseconds())}
	}
	plan, err := planned(dev, program, g, opts)
	if err != nil {
		return nil, err
	}
	if form.Unit == sharing.Kernels {
		onePieceEach(plan.Schedule)
	}
	exec, err := graphexec.Instantiate(dev, plan.Schedule, program, graphexec.Graph)
	if err != nil {
		return nil, err
	}
	return newPieces(dev, exec, form.Stops)
}

func planned(dev device.Device, program traced.Program, g *ir.Graph, opts optimizer.Options) (*optimizer.Result, error) {
	if traced.Of(program) != nil {
		return optimizer.PlanOn(dev, program, opts)
	}
	opts.Custom = model.Of(dev)
	return optimizer.Plan(g, opts)
}

func newOpsStage(dev device.Device, program traced.Program, g *ir.Graph) (*Stage, error) {
	ops, err := NewOps(dev, g, traced.BindingsOf(program))
	if err != nil {
		return nil, err
	}
	s := &Stage{Work: ops, close: func() error { return nil }}
	for _, u := range ops.units {
		s.Alone += u.Time
	}
	return s, nil
}

// piece is an element of ir.Schedule.Segments[i].Pieces.
type piece = struct {
	End       int
	Predicted int64
	Bound     string
	Oversize  string
}

// onePieceEach makes a piece of each operation.
func onePieceEach(s *ir.Schedule) {
	all := make([]piece, len(s.Order))
	for i := range all {
		all[i].End = i + 1
	}
	s.Segments = append(s.Segments[:0], struct {
		Limit  int64
		Pieces []piece
	}{Pieces: all})
}

// pieces is a graph whose pieces are units.
type pieces struct {
	segments.Program
	units  []sharing.Unit
	runner segments.Runner // nil if the form has no Stops
	ended  int             // replays of the runner before the last Run
}

// newPieces takes over an Exec. stops makes the pieces a Stopper.
func newPieces(dev device.Device, exec *graphexec.Exec, stops bool) (*Stage, error) {
	program, err := segments.Of(exec)
	if err != nil {
		return nil, device.Join(err, exec.Close())
	}
	p := &pieces{Program: program}
	if stops {
		if p.runner, err = program.Runner(); err != nil {
			return nil, device.Join(err, program.Close(), exec.Close())
		}
	}
	s := &Stage{Work: p, close: func() error { return device.Join(program.Close(), exec.Close()) }}
	if s.Alone, err = p.measure(dev); err != nil {
		return nil, device.Join(err, s.close())
	}
	return s, nil
}

// Units implements Work.
func (p *pieces) Units() []sharing.Unit { return p.units }

// Submit implements Work.
func (p *pieces) Submit(s device.Stream, first, n int) error {
	return p.Program.Submit(s, first, first+n)
}

// Run implements Stopper, as do Stop and Ran.
func (p *pieces) Run(s device.Stream, first, n int) error {
	ended, unit := p.runner.Progress()
	if unit != first { // a stage was cancelled, and this is another one
		if err := p.runner.Reset(); err != nil {
			return err
		}
	}
	p.ended = ended
	return p.runner.Launch(s, n)
}

func (p *pieces) Stop() error { return p.runner.Stop() }

func (p *pieces) Ran() int {
	ended, unit := p.runner.Progress()
	if ended > p.ended {
		return len(p.units)
	}
	return unit
}

var bounds = map[string]sharing.Bound{"compute": sharing.Compute, "memory": sharing.Memory}

// measure runs the units one by one, and then all at once.
func (p *pieces) measure(dev device.Device) (alone time.Duration, err error) {
	s, err := dev.CreateStream(0)
	if err != nil {
		return 0, err
	}
	defer func() { err = device.Join(err, dev.DestroyStream(s)) }()
	all := p.Program.Units()
	times := make([]time.Duration, len(all))
	for range runs(dev) {
		for i := range all {
			t, err := Timed(dev, s, func() error { return p.Submit(s, i, 1) })
			if err != nil {
				return 0, err
			}
			if times[i] == 0 || t < times[i] {
				times[i] = t
			}
		}
		if alone, err = Timed(dev, s, func() error { return p.Submit(s, 0, len(all)) }); err != nil {
			return 0, err
		}
	}
	for i, u := range all {
		sms := min(u.Blocks, dev.Info().Multiprocessors)
		p.units = append(p.units, sharing.Unit{Time: times[i], SMs: sms, Bound: bounds[u.Bound]})
	}
	return alone, nil
}

// Close frees what NewStage has created.
func (s *Stage) Close() error { return s.close() }
