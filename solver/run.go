package solver

import (
	"context"
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// run is a solver in progress.
type run struct {
	sys   *System
	trace *tracer.Trace // nil while an eager run issues operations

	// enqueue issues one iteration and returns before the iteration has ended.
	enqueue func(context.Context) error
	exec    *graphexec.Exec // nil for an eager run and for a loop
	loop    *loop.Exec      // nil but for a loop
	looped  loop.Result

	operations, lanes int     // per iteration
	norm              float64 // norm of b
}

// start sets a method up in the selected mode and loads the problem.
func start(dev device.Device, p *problem, o *Options) (r *run, err error) {
	r = &run{sys: newSystem(p, o, newTracer(dev, o)), norm: p.norm}
	defer func() {
		if err != nil {
			err = device.Join(err, r.close())
		}
	}()
	iterate := o.Method.Trace(r.sys)
	if err := r.sys.rehearse(iterate); err != nil {
		return r, err
	}
	r.operations = len(r.sys.script.launches)
	if o.Mode == Eager || o.Mode == Auto {
		r.eager(iterate)
	} else if err := r.replays(dev, iterate, o); err != nil {
		return r, err
	}
	if err := r.sys.t.Err(); r.trace == nil && err != nil {
		return r, err
	}
	for _, load := range r.sys.loads {
		if err := load(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func newTracer(dev device.Device, o *Options) *tracer.Tracer {
	switch o.Mode {
	case Eager:
		return tracer.New(dev, o.Method.Name, tracer.Direct)
	case Auto:
		return auto.New(dev, o.Method.Name, auto.Options{Strategy: o.Strategy})
	}
	return tracer.New(dev, o.Method.Name, tracer.Deferred)
}

// eager makes each iteration issue its launches.
func (r *run) eager(iterate func()) {
	r.lanes = 1
	r.enqueue = func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return r.sys.issue(iterate)
	}
}

// replays traces one iteration and makes each iteration a replay.
func (r *run) replays(dev device.Device, iterate func(), o *Options) (err error) {
	if err := r.sys.issue(iterate); err != nil {
		return err
	}
	if r.trace, err = r.sys.t.Finish(); err != nil {
		return err
	}
	backend, plan := graphexec.Graph, optimizer.Options{Strategy: o.Strategy, Custom: model.Of(dev)}
	if o.Mode == Streams {
		backend, plan.Streams, plan.Also = graphexec.Streams, true, []string{"group"}
	}
	result, err := optimizer.Plan(r.trace.Graph, plan)
	if err != nil {
		return err
	}
	r.lanes = result.Schedule.Lanes
	if o.Mode == Loop {
		return r.loops(dev, result.Schedule, plan, o)
	}
	r.exec, err = graphexec.Instantiate(dev, result.Schedule, r.trace, backend)
	if err != nil {
		return err
	}
	r.enqueue = r.exec.Replay
	return nil
}

// loops makes the device or the host repeat an iteration until the state marks the last one. Iterations after that
// change nothing, see operation.go and kernels/state.cuh.
func (r *run) loops(dev device.Device, body *ir.Schedule, plan optimizer.Options, o *Options) (err error) {
	period := r.sys.script.period()
	periods := func(iterations int) int { return roundUp(iterations, period) / period }
	every, batch := fit(periods(o.CheckEvery), periods(o.Batch))
	if batch == 0 {
		every = min(every, maxInFlight)
	}
	l := loop.Loop{
		Body:          body,
		Until:         r.until(o),
		MaxIterations: periods(o.MaxIterations),
		CheckEvery:    every,
		Overrun:       loop.Harmless,
		Lowering:      o.Lowering,
		Batch:         batch,
		Expected:      periods(usual(r.sys.N)),
		Several:       func(n int) (*ir.Schedule, error) { return r.several(n, plan) },
	}
	if o.Observe != nil {
		l.Observe = func(int) {
			if state, err := r.look(); err == nil { // otherwise the loop ends by the error itself
				r.observe(&state, o)
			}
		}
	}
	r.loop, err = loop.Instantiate(dev, l, r.trace)
	return err
}

// fit raises the greater of two numbers to a multiple of the other, unless one is 0.
func fit(a, b int) (int, int) {
	switch {
	case a == 0 || b == 0:
		return a, b
	case a < b:
		return a, roundUp(b, a)
	}
	return roundUp(a, b), b
}

// until returns the condition that ends a loop: the method has a result. On a sampled device it is never met.
func (r *run) until(o *Options) loop.Until {
	u := loop.Until{Buffer: r.sys.state.ID(), Index: stateCode, Is: ir.NotEqual, Value: running}
	if o.Sampled {
		u.Is, u.Value = ir.Equal, -1
	}
	return u
}

// maxUnrolled bounds the number of operations in a schedule of several iterations. Planning a longer schedule takes
// more time than an iteration gains. Iterations overlap only with neighbouring ones, so a few of them give most of
// the gain.
const maxUnrolled = 256

// several returns a schedule of n iterations, or of fewer if n are too many to plan at once.
func (r *run) several(n int, plan optimizer.Options) (*ir.Schedule, error) {
	k := n
	for k > 1 && (n%k != 0 || k*r.trace.Graph.Len() > maxUnrolled) {
		k--
	}
	if k == 1 {
		return nil, nil
	}
	plan.Also = []string{fmt.Sprintf("unroll(%d)", k)}
	result, err := optimizer.Plan(r.trace.Graph, plan)
	if err != nil {
		return nil, err
	}
	return result.Schedule, nil
}

// usual returns the expected number of iterations for n unknowns. For conjugate gradients it is proportional to the
// square root of the condition number; for a stencil in the plane that is the square root of n.
func usual(n int) int { return 4 * int(math.Ceil(math.Sqrt(float64(n)))) }

// look waits for the iterations enqueued so far and returns the state. Reading waits by itself. A separate wait for
// the replays would cost a call, and would only name the failing operation more precisely.
func (r *run) look() (state [stateLen]int32, err error) {
	err = tracer.Read(state[:], r.sys.state)
	if err != nil && r.exec != nil {
		if failed := r.exec.Wait(context.Background()); failed != nil {
			err = failed
		}
	}
	return state, err
}

func (r *run) close() error {
	var err error
	if r.exec != nil {
		err = r.exec.Close()
	}
	if r.loop != nil {
		err = r.loop.Close()
	}
	if r.trace == nil {
		stopped := r.sys.t.Err()
		var failed error
		if r.trace, failed = r.sys.t.Finish(); failed != nil { // on failure it has freed everything
			return device.Join(err, without(failed, stopped))
		}
	}
	return device.Join(err, r.trace.Close())
}

// without returns err without the parts that known contains, for joined errors.
func without(err, known error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case known != nil && err == known:
		return nil
	case !ok:
		return err
	}
	var rest []error
	for _, e := range joined.Unwrap() {
		rest = append(rest, without(e, known))
	}
	return device.Join(rest...)
}
