package advice

import (
	"fmt"
	"math"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/loopcost"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/solver"
)

// predictor predicts the lowerings of a loop. A period is the trace of in: one iteration, or those that a method traces as one.
type predictor struct {
	advice *Advice
	loop   *Loop
	dev    device.Device
	in     *bench.Instance
	o      *Options
	costs  loopcost.Costs
	plans  map[int]*planned // by number of periods
}

// planned is a schedule of some periods.
type planned struct {
	period time.Duration // predicted time of a period on the device
	took   time.Duration // host time of planning
}

// most bounds the operations of a schedule of several periods, as package solver does.
const most = 256

// form is a lowering as an option of package solver.
type form struct {
	name     string
	mode     solver.Mode
	lowering loop.Lowering
	cost     loopcost.Lowering
	ahead    bool
}

// forms are the lowerings that an option of package solver selects.
var forms = []form{
	{"host", solver.Graph, 0, loopcost.Host, false},
	{"host, ahead", solver.Loop, loop.HostChecked, loopcost.Host, true},
	{"unrolled, ahead", solver.Loop, loop.Unrolled, loopcost.Unrolled, true},
	{"while", solver.Loop, loop.WhileNode, loopcost.While, false},
}

// predict sets the ways of the loop. The first one issues each operation by a call.
func (p *predictor) predict() (err error) {
	if err := p.measureCosts(); err != nil {
		return err
	}
	a, l := p.advice, p.loop
	rounds := float64(ceil(p.periods(), p.every()))
	period := a.Ways[0].ReplayUS + micros(p.costs.Look)
	if profile := model.Of(p.dev); profile != nil {
		period -= float64(profile.Host.Synchronize) / float64(model.Microsecond) // the look waits instead
	}
	l.Ways = append(l.Ways, Lowering{Name: calls, Mode: solver.Eager.String(), IterationUS: rounds * period / float64(l.Iterations), mode: solver.Eager})
	for _, f := range forms {
		if _, ok := p.dev.(device.Looper); !ok && f.cost == loopcost.While {
			l.Excluded = append(l.Excluded, fmt.Sprintf("%s: %s has no conditional nodes", f.name, p.dev.Info().ID))
			continue
		}
		w, err := p.best(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		l.Ways = append(l.Ways, *w)
	}
	return nil
}

// every returns the number of periods between two checks, and periods that of a solve.
func (p *predictor) every() int { return ceil(p.loop.CheckEvery, p.in.Count) }

func (p *predictor) periods() int { return ceil(p.loop.Iterations, p.in.Count) }

func ceil(n, of int) int { return (n + of - 1) / of }

// best predicts a form with each number of iterations in a graph, and returns the best one.
func (p *predictor) best(f form) (*Lowering, error) {
	var ways []Lowering
	for n := 1; n <= p.every(); n++ {
		if p.every()%n != 0 {
			continue
		}
		plan, err := p.plan(n)
		if err != nil {
			return nil, err
		}
		one, err := p.plan(1)
		if err != nil {
			return nil, err
		}
		for _, o := range p.options(f, n, plan) {
			if o.Lowering != f.cost || o.Ahead != f.ahead || o.Batch != n {
				continue
			}
			w := Lowering{Name: f.name, Mode: f.mode.String(), Batch: n * p.in.Count, mode: f.mode, lowering: f.lowering}
			if f.mode == solver.Loop {
				w.Lowering = f.lowering.String()
			}
			took := time.Duration(p.run(f))*plan.period + o.Overhead + p.copies(f)
			w.IterationUS = micros(took) / float64(p.loop.Iterations)
			prepare := one.took + o.Prepare + time.Duration(p.in.Trace.Graph.Len())*p.costs.Node
			if n > 1 {
				prepare += plan.took
			}
			w.PrepareUS = p.advice.TraceUS + micros(prepare)
			ways = append(ways, w)
		}
	}
	c := (&Loop{Iterations: p.loop.Iterations, Solves: p.loop.Solves, Ways: ways}).options()
	return &ways[c.best()], nil
}

// run returns the number of periods that run: whole rounds between two checks, or as many as the loop expects.
func (p *predictor) run(f form) int {
	if f.ahead {
		return p.periods()
	}
	return ceil(p.periods(), p.every()) * p.every()
}

// copies returns the device's time for the copies of the scalar, which delay the next graph even if the host does not wait.
func (p *predictor) copies(f form) time.Duration {
	if !f.ahead {
		return 0
	}
	return time.Duration(ceil(p.run(f), p.every())) * (p.costs.Look - loopcost.RootGap)
}

// options returns the costs of the loop in graphs of n periods.
func (p *predictor) options(f form, n int, plan *planned) []loopcost.Option {
	return loopcost.Loop{
		Iterations: p.run(f), Limit: p.every(), CheckEvery: p.every(), Batch: n, Ahead: true, Known: p.loop.Limited,
		Ops: p.in.Trace.Graph.Len(), Replay: p.costs.Launch, Body: plan.period,
	}.Options(p.costs)
}

// plan plans a graph of n periods, or of the greatest divisor of n that is planned at once.
func (p *predictor) plan(n int) (*planned, error) {
	k := n
	for k > 1 && (n%k != 0 || k*p.in.Trace.Graph.Len() > most) {
		k--
	}
	if plan := p.plans[k]; plan != nil {
		return plan, nil
	}
	profile := running(model.Of(p.dev))
	opts := optimizer.Options{Strategy: p.o.strategy(), Custom: profile}
	if profile != nil && p.in.Measured != nil {
		opts.Costs = costmodel.Measured(profile, p.in.Measured)
	}
	if k > 1 {
		opts.Also = []string{fmt.Sprintf("unroll(%d)", k)}
	}
	start := p.o.Now()
	plan, err := optimizer.Plan(p.in.Trace.Graph, opts)
	if err != nil {
		return nil, err
	}
	p.plans[k] = &planned{time.Duration(math.Round(float64(plan.Schedule.Predicted) / float64(k))), p.o.Now().Sub(start)}
	return p.plans[k], nil
}

// running returns a profile in which launching a graph takes no time: the device is busy with the previous one.
func running(p *model.Profile) *model.Profile {
	if p == nil {
		return nil
	}
	q := *p
	q.Host.GraphLaunch, q.Host.GraphNode, q.Host.GraphBranch, q.SubmitLatency = 0, 0, 0, 0
	return &q
}

// measureCosts measures the times of calls into the device.
func (p *predictor) measureCosts() (err error) {
	stream, err := p.dev.CreateStream(0)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, p.dev.DestroyStream(stream)) }()
	host, bytes, err := p.dev.AllocHost(ir.I32.Size())
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, p.dev.Free(host)) }()
	scalar, err := p.dev.Alloc(int64(len(bytes)))
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, p.dev.Free(scalar)) }()
	if err := p.dev.Write(scalar, bytes); err != nil {
		return err
	}
	p.costs, err = loopcost.Measure(p.dev, stream, &device.Copy{Dst: host, Src: scalar, Bytes: int64(len(bytes))})
	return err
}
