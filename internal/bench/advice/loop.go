package advice

import (
	"context"
	"math"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/ranking"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Solver is a method with a matrix.
type Solver struct {
	Name       string
	Matrix     *sparse.CSR
	Options    solver.Options
	Iterations int // most iterations of a solve
}

// Workload returns the iterations between two checks of the host as a program.
func (s *Solver) Workload() *bench.Workload { return bench.OfSolver(s.Name, s.Matrix, s.Options) }

// Lowering is a way to run the loop around the iterations of a solver.
type Lowering struct {
	Name     string `json:"way"`
	Mode     string `json:"mode"`               // solver.Options.Mode
	Lowering string `json:"lowering,omitempty"` // solver.Options.Lowering
	Batch    int    `json:"batch"`              // iterations that one call into the device submits; 0 if an operation is a call

	IterationUS float64 `json:"iteration_us"`          // predicted time of a solve, divided by its iterations
	PrepareUS   float64 `json:"prepare_us"`            // host time of tracing, planning and instantiating
	BreakEven   float64 `json:"break_even,omitempty"`  // first number of solves for which the way takes no longer than calls; 0 if there is none, and for calls
	MeasuredUS  float64 `json:"measured_us,omitempty"` // as IterationUS, of a solve on the device; see Options.Measure

	mode     solver.Mode
	lowering loop.Lowering
}

// Loop compares the lowerings of the loop around the iterations of a solver.
type Loop struct {
	Iterations  int        `json:"iterations"` // of a solve
	CheckEvery  int        `json:"check_every"`
	Limited     bool       `json:"limited,omitempty"` // a solve ends by its limit of iterations, not by the condition
	Uncertainty float64    `json:"uncertainty,omitempty"`
	Solves      float64    `json:"solves,omitempty"` // for which a way was chosen; 0 is no limit
	Ways        []Lowering `json:"ways"`
	Excluded    []string   `json:"excluded,omitempty"` // ways that the device does not support, with the reason
	Picks       []Pick     `json:"picks"`              // by number of solves
	Chosen      int        `json:"chosen"`             // index of the way for Solves
}

// AddLoop adds the lowerings of the loop around the iterations of a solver to the advice on these iterations, which are whole.
// open opens a device that runs all blocks, for measured times.
func (a *Advice) AddLoop(ctx context.Context, dev device.Device, whole *bench.Instance, s *Solver, o Options, open func() (device.Device, error)) (err error) {
	single := *s
	single.Options.CheckEvery = 1
	in, err := single.Workload().New(dev, bench.Params{Sampled: whole.Params.Sampled})
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Measure(ctx, dev); err != nil {
		return err
	}
	l := &Loop{Iterations: s.Iterations, CheckEvery: whole.Count, Uncertainty: in.Uncertainty}
	a.Loop = l
	solving := &solving{s, open, o.strategy(), l}
	if o.Measure {
		if err := solving.count(ctx); err != nil {
			return err
		}
	}
	if o.Replays > 0 {
		l.Solves = math.Ceil(float64(o.Replays) * float64(whole.Count) / float64(l.Iterations))
	}
	p := &predictor{advice: a, loop: l, dev: dev, in: in, o: &o, plans: map[int]*planned{}}
	if err := p.predict(); err != nil {
		return err
	}
	l.choose()
	if !o.Measure {
		return nil
	}
	return solving.measure(ctx)
}

// options returns the ways as a choice compares them, for solves.
func (l *Loop) options() choice {
	c := choice{uncertainty: l.Uncertainty, replays: l.Solves, unit: "solves"}
	for i := range l.Ways {
		w := &l.Ways[i]
		plan := ranking.Plan{Prepare: w.PrepareUS, Replay: w.IterationUS * float64(l.Iterations), Ties: w.Batch}
		c.options = append(c.options, option{w.Name, plan, plan.Prepare, w.MeasuredUS})
	}
	return c
}

// choose sets what follows from the ways.
func (l *Loop) choose() {
	c := l.options()
	for i := range l.Ways {
		l.Ways[i].BreakEven = c.breakEven(i)
	}
	l.Picks, l.Chosen = c.picks(), c.best()
}
