// Package advice compares the ways to run a program: by its own calls, over streams or as a graph, one replay at a time or
// several as one program. It predicts the time and the memory of each, and from which number of replays it pays.
package advice

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/ranking"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Way is a way to run a program.
type Way struct {
	Name     string   `json:"way"`
	Strategy string   `json:"strategy"`
	Also     []string `json:"also,omitempty"` // optional passes
	Backend  string   `json:"backend"`        // "graph" or "streams"
	Copies   int      `json:"copies"`         // replays that are one program
	Lanes    int      `json:"lanes"`
	Waits    int      `json:"waits"`

	ReplayUS       float64 `json:"replay_us"`                  // predicted time of a replay; of several as one program, divided by their number
	PlanUS         float64 `json:"plan_us"`                    // host time of planning, the least of a few runs
	InstantiateUS  float64 `json:"instantiate_us"`             // host time of instantiating, predicted
	PrepareUS      float64 `json:"prepare_us"`                 // the sum of both, and of tracing
	PrepareMostUS  float64 `json:"prepare_most_us"`            // the same with the longest of these runs
	Bytes          int64   `json:"bytes"`                      // device memory, if temporaries share it
	Unshared       int64   `json:"unshared_bytes"`             // device memory, if each buffer has its own
	BreakEven      float64 `json:"break_even,omitempty"`       // first number of replays for which the way takes no longer than the program's calls; 0 if there is none, and for these calls
	BreakEvenLeast float64 `json:"break_even_least,omitempty"` // the same if the gain is as large as the uncertainty of the clock allows
	BreakEvenMost  float64 `json:"break_even_most,omitempty"`  // the same for the longest preparation and the least gain; 0 if there may be no gain
	Frontier       bool    `json:"frontier"`                   // no other way is both quicker and smaller
	MeasuredUS     float64 `json:"measured_us,omitempty"`      // as ReplayUS, of a replay on the device; see Options.Measure
}

// Pick is a way that is the quickest from some number of replays on.
type Pick struct {
	Way  int     `json:"way"` // index
	From float64 `json:"from_replays"`
}

// Advice compares the ways to run one program.
type Advice struct {
	Program     string   `json:"program"`
	Size        int      `json:"size,omitempty"`
	Device      string   `json:"device"`
	Ops         int      `json:"ops"`
	Loops       int      `json:"loops,omitempty"`       // loops and branches
	Costs       string   `json:"costs"`                 // source of the times of operations
	Uncertainty float64  `json:"uncertainty,omitempty"` // relative, of predicted times
	TraceUS     float64  `json:"trace_us"`              // host time of recording
	Budget      int64    `json:"memory_budget,omitempty"`
	Replays     float64  `json:"replays,omitempty"` // for which a way was chosen; 0 is no limit
	Ways        []Way    `json:"ways"`
	Excluded    []string `json:"excluded,omitempty"` // ways that the program does not allow, with the reason
	Picks       []Pick   `json:"picks"`              // by number of replays
	Chosen      int      `json:"chosen"`             // index of the way for Replays
	Loop        *Loop    `json:"loop,omitempty"`     // around the iterations of a solver
}

// Options select what is compared.
type Options struct {
	Replays int64            // number of replays that the program makes; 0 is no limit
	Budget  int64            // most device memory in bytes; 0 is no limit
	Copies  []int            // numbers of replays that are tried as one program
	Quick   bool             // leaves out ways that search: strategy auto, and the pass merge
	Measure bool             // also replays each way, to compare the predicted time with that of the device
	Trace   HostTime         // of recording
	Now     func() time.Time // the host's clock
}

// strategy returns the strategy for the iterations of a loop.
func (o *Options) strategy() string {
	if o.Quick {
		return "nimble"
	}
	return "auto"
}

// way is a candidate.
type way struct {
	name, strategy string
	also           []string
	backend        graphexec.Backend
}

// calls is the name of the way that plans nothing.
const calls = "calls"

// ways lists the candidates. The first one is the program's own calls on one stream, with which the others are compared.
func (o *Options) ways() []way {
	all := []way{
		{calls, "serial", nil, graphexec.Streams},
		{"streams", "nimble", nil, graphexec.Streams},
		{"graph, one lane", "serial", nil, graphexec.Graph},
		{"graph, two lanes", "nimble(2)", nil, graphexec.Graph},
		{"graph", "nimble", nil, graphexec.Graph},
	}
	if !o.Quick {
		all = append(all,
			way{"streams, searched", "auto", nil, graphexec.Streams},
			way{"graph, searched", "auto", nil, graphexec.Graph},
			way{"graph, merged", "auto", []string{"merge"}, graphexec.Graph})
	}
	for _, k := range o.Copies {
		all = append(all,
			way{fmt.Sprintf("graph of %d", k), "nimble", []string{fmt.Sprintf("unroll(%d)", k)}, graphexec.Graph},
			way{fmt.Sprintf("graph of %d, renamed", k), "nimble", []string{fmt.Sprintf("unroll(%d)", k), fmt.Sprintf("rename(%d)", k)}, graphexec.Graph})
	}
	return all
}

// Of compares the ways to run a workload that was measured on dev. Loops and branches are nodes of a graph, and are decided
// by the host over streams.
func Of(ctx context.Context, dev device.Device, in *bench.Instance, o Options) (*Advice, error) {
	g := in.Trace.Graph
	a := &Advice{
		Program: g.Name, Device: dev.Info().ID, Ops: g.Len(), Loops: bench.Control(g), Uncertainty: in.Uncertainty,
		TraceUS: micros(o.Trace.Least), Budget: o.Budget, Replays: float64(o.Replays),
	}
	for _, w := range o.ways() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, s, err := a.plan(dev, in, w, &o)
		if err != nil && w.also != nil {
			a.Excluded = append(a.Excluded, fmt.Sprintf("%s: %v", w.name, err))
			continue
		}
		if err == nil && o.Measure {
			one.MeasuredUS, err = measure(ctx, dev, in, s, w.backend)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		a.Ways = append(a.Ways, *one)
	}
	return a, a.choose()
}

// plan predicts one way.
func (a *Advice) plan(dev device.Device, in *bench.Instance, w way, o *Options) (*Way, *ir.Schedule, error) {
	profile := model.Of(dev)
	opts := optimizer.Options{Strategy: w.strategy, Also: append([]string{"memplan"}, w.also...), Streams: w.backend == graphexec.Streams, Custom: profile}
	if profile != nil && in.Measured != nil {
		opts.Costs = costmodel.Measured(profile, in.Measured)
	}
	var plan *optimizer.Result
	took, err := Time(o.Now, func() (err error) {
		plan, err = optimizer.Plan(in.Trace.Graph, opts)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	s := plan.Schedule
	u := plansize.UnrolledOf(s, profile)
	one := &Way{
		Name: w.name, Strategy: w.strategy, Also: w.also, Backend: w.backend.String(), Copies: u.Copies, Lanes: s.Lanes, Waits: s.Syncs(),
		ReplayUS: u.CopyUS, PlanUS: micros(took.Least),
	}
	if profile != nil {
		one.ReplayUS += float64(profile.Host.Synchronize) / float64(model.Microsecond) / float64(u.Copies)
	}
	one.Unshared, one.Bytes = plansize.BytesOf(s)
	if w.backend == graphexec.Graph {
		one.InstantiateUS = u.InstantiateUS
	}
	if w.name == calls { // nothing is traced, planned or shared
		one.PlanUS, one.Bytes = 0, one.Unshared
		a.Costs = plan.Costs
		if in.Measured != nil {
			a.Costs = "of operations measured"
		}
		return one, s, nil
	}
	one.PrepareUS = a.TraceUS + one.PlanUS + one.InstantiateUS
	one.PrepareMostUS = micros(o.Trace.Most+took.Most) + one.InstantiateUS
	return one, s, nil
}

// measure returns the time of a replay on the device, from the call to the return of its wait, divided by its copies.
func measure(ctx context.Context, dev device.Device, in *bench.Instance, s *ir.Schedule, form graphexec.Backend) (us float64, err error) {
	exec, err := graphexec.Instantiate(dev, s, in.Trace, form)
	if err != nil {
		return 0, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := in.Reset(); err != nil {
		return 0, err
	}
	start := dev.Now()
	if err := exec.Replay(ctx); err != nil {
		return 0, err
	}
	err = exec.Wait(ctx)
	return micros(dev.Now()-start) / float64(max(1, s.Graph.Copies)), err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// options returns the ways as a choice compares them. Of equally quick ways, the one with the fewest copies, lanes and waits is
// preferred.
func (a *Advice) options() choice {
	c := choice{uncertainty: a.Uncertainty, replays: a.Replays, budget: a.Budget, unit: "replays"}
	for i := range a.Ways {
		w := &a.Ways[i]
		plan := ranking.Plan{Prepare: w.PrepareUS, Replay: w.ReplayUS, Bytes: w.Bytes, Lanes: w.Lanes, Ties: w.Copies + w.Lanes + w.Waits}
		c.options = append(c.options, option{w.Name, plan, w.PrepareMostUS, w.MeasuredUS})
	}
	return c
}

// choose sets what follows from the ways.
func (a *Advice) choose() error {
	c := a.options()
	for i := range a.Ways {
		w := &a.Ways[i]
		w.BreakEven = c.breakEven(i)
		w.BreakEvenLeast, w.BreakEvenMost = c.between(i)
	}
	for _, i := range ranking.Frontier(len(a.Ways), c.plan) {
		a.Ways[i].Frontier = true
	}
	a.Picks, a.Chosen = c.picks(), c.best()
	if a.Chosen < 0 {
		return sentinel.Errorf(sentinel.ErrOutOfMemory, "no way to run %s fits in %d bytes: the smallest takes %d", a.Program, a.Budget, a.least())
	}
	return nil
}

// least returns the memory of the smallest way.
func (a *Advice) least() int64 {
	least := int64(math.MaxInt64)
	for i := range a.Ways {
		least = min(least, a.Ways[i].Bytes)
	}
	return least
}
