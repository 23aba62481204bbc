package solver

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// run is a solver in progress, for one system or for several at the same time.
type run struct {
	*shared
	systems []*System
	ended   Vector        // of a loop over several systems: 1 once all have a result
	trace   *tracer.Trace // nil while an eager run issues operations

	// enqueue issues one iteration and returns before the iteration has ended.
	enqueue     func(context.Context) error
	exec        *graphexec.Exec // nil for an eager run, for a loop, and on several devices
	loop        *loop.Exec      // nil but for a loop
	distributed *ranks.Plan     // nil but on several devices
	now         func() time.Duration
	looped      loop.Result

	operations, lanes int // per iteration of all systems
}

// start sets a method up in the selected mode for each problem, and loads the problems. With Options.Devices it is
// collective, and dev is not used.
func start(ctx context.Context, dev device.Device, problems []*problem, o *Options) (r *run, err error) {
	r, iterate, err := setUp(dev, problems, o)
	defer func() {
		if err != nil {
			err = device.Join(err, r.close())
		}
	}()
	if err != nil {
		return r, err
	}
	if o.Mode == Eager || o.Mode == Auto {
		r.eager(iterate)
	} else if err := r.record(iterate, 1, o); err != nil {
		return r, err
	}
	if err := r.t.Err(); r.trace == nil && err != nil {
		return r, err
	}
	if o.Devices != nil {
		if err := r.distribute(ctx, o); err != nil {
			return r, err
		}
	}
	if err := r.load(); err != nil || r.trace == nil {
		return r, err
	}
	if o.Devices != nil {
		return r, r.distributed.Load()
	}
	return r, r.replays(dev, o)
}

// setUp allocates what a method needs for each problem, and calls it once without launching anything. It returns the functions
// that issue an iteration. The run must be closed after an error, too.
func setUp(dev device.Device, problems []*problem, o *Options) (r *run, iterate []func(), err error) {
	r = &run{shared: newShared(newTracer(dev, o), o.devices(), len(problems)), now: o.clock(dev)}
	for i, p := range problems {
		s := newSystem(p, o, r.shared, i)
		r.systems = append(r.systems, s)
		iterate = append(iterate, o.Method.Trace(s))
	}
	return r, iterate, r.rehearse(iterate)
}

// load writes what the systems start with.
func (r *run) load() error {
	for _, s := range r.systems {
		for _, c := range s.loads {
			if err := r.memory.write(c.of, c.bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// rehearse calls the methods once without launching anything.
func (r *run) rehearse(iterate []func()) error {
	for i, s := range r.systems {
		if err := s.rehearse(iterate[i]); err != nil {
			return err
		}
		r.operations += len(s.script.launches)
	}
	for i, s := range r.systems {
		if period, first := s.script.period(), r.period(); period != first {
			s.refuse("", fmt.Sprintf("System.Period is %d for system %d and %d for system 0", period, i, first),
				"solve systems with different periods one by one")
			return s.failed()
		}
	}
	return nil
}

// period returns the number of iterations that a call of enqueue issues.
func (r *run) period() int { return r.systems[0].script.period() }

// issue issues an iteration of each system.
func (r *run) issue(iterate []func()) error {
	for i, s := range r.systems {
		if err := s.issue(iterate[i]); err != nil {
			return err
		}
	}
	return nil
}

func newTracer(dev device.Device, o *Options) *tracer.Tracer {
	switch {
	case o.Devices != nil:
		return o.Devices.Record(o.Method.Name)
	case o.Mode == Eager:
		return tracer.New(dev, o.Method.Name, tracer.Direct)
	case o.Mode == Auto:
		return auto.New(dev, o.Method.Name, auto.Options{Strategy: o.Strategy})
	}
	return tracer.New(dev, o.Method.Name, tracer.Deferred)
}

// eager makes each iteration issue its launches.
func (r *run) eager(iterate []func()) {
	r.lanes = 1
	r.enqueue = func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return r.issue(iterate)
	}
}

// record traces some calls of the functions that issue an iteration of each system.
func (r *run) record(iterate []func(), calls int, o *Options) (err error) {
	for range calls {
		if err := r.issue(iterate); err != nil {
			return err
		}
	}
	if n := len(r.systems); n > 1 && o.Mode == Loop { // the condition of a loop is one scalar
		r.ended = r.t.Alloc("ended", ir.I32, 1, ir.InOut)
		r.t.Launch(r.modules["scalar"].Kernel("all_ended"), tracer.Linear(1, 32), r.states, n, r.ended)
	}
	r.trace, err = r.t.Finish()
	return err
}

// replays makes each iteration a replay of the trace.
func (r *run) replays(dev device.Device, o *Options) (err error) {
	backend, plan := graphexec.Graph, optimizer.Options{Strategy: o.Strategy, Also: o.Also, Custom: model.Of(dev), Frozen: len(r.systems) > 1}
	if o.Mode == Streams {
		backend, plan.Streams, plan.Also = graphexec.Streams, true, append(slices.Clip(o.Also), "group")
	}
	result, err := r.plan(dev, plan)
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

// plan plans the trace. One system has next to no concurrency, so that times estimated from shapes suffice.
func (r *run) plan(dev device.Device, plan optimizer.Options) (*optimizer.Result, error) {
	if len(r.systems) == 1 {
		return optimizer.Plan(r.trace.Graph, plan)
	}
	return optimizer.PlanOn(dev, r.trace, plan)
}

// loops makes the device or the host repeat an iteration until the state marks the last one. Iterations after that
// change nothing, see operation.go and kernels/state.cuh.
func (r *run) loops(dev device.Device, body *ir.Schedule, plan optimizer.Options, o *Options) (err error) {
	period := r.period()
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
		Expected:      periods(usual(r.systems[0].N)),
		Several:       func(n int) (*ir.Schedule, error) { return r.several(dev, n, plan) },
	}
	if o.Observe != nil {
		l.Observe = func(int) {
			if states, err := r.look(); err == nil { // otherwise the loop ends by the error itself
				r.observe(states, o)
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

// until returns the condition that ends a loop: the method has a result for every system. On a sampled device it is never met.
func (r *run) until(o *Options) loop.Until {
	u := loop.Until{Buffer: r.states.ID(), Index: stateCode, Is: ir.NotEqual, Value: running}
	if len(r.systems) > 1 {
		u = loop.Until{Buffer: r.ended.ID(), Is: ir.NotEqual}
	}
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
func (r *run) several(dev device.Device, n int, plan optimizer.Options) (*ir.Schedule, error) {
	k := n
	for k > 1 && (n%k != 0 || k*r.trace.Graph.Len() > maxUnrolled) {
		k--
	}
	if k == 1 {
		return nil, nil
	}
	plan.Also = append(slices.Clip(plan.Also), fmt.Sprintf("unroll(%d)", k))
	result, err := r.plan(dev, plan)
	if err != nil {
		return nil, err
	}
	return result.Schedule, nil
}

// usual returns the expected number of iterations for n unknowns. For conjugate gradients it is proportional to the
// square root of the condition number; for a stencil in the plane that is the square root of n.
func usual(n int) int { return 4 * int(math.Ceil(math.Sqrt(float64(n)))) }

// advance runs a number of periods, or enqueues them. It returns how many.
func (r *run) advance(ctx context.Context, periods int) (done int, err error) {
	if r.distributed != nil {
		if err := r.distributed.Run(ctx, periods); err != nil {
			return 0, err
		}
		return periods, nil
	}
	for done < periods && err == nil {
		if err = r.enqueue(ctx); err == nil {
			done++
		}
	}
	return done, err
}

// look waits for the iterations enqueued so far and returns the state of each system. Reading waits by itself. A
// separate wait for the replays would cost a call, and would only name the failing operation more precisely.
func (r *run) look() ([]state, error) {
	raw := make([]byte, r.states.Bytes())
	err := r.memory.read(raw, r.states)
	if err != nil && r.exec != nil {
		if failed := r.exec.Wait(context.Background()); failed != nil {
			err = failed
		}
	}
	states := make([]state, len(r.systems))
	for i := range states {
		for j := range states[i] {
			states[i][j] = int32(binary.LittleEndian.Uint32(raw[4*(i*stateLen+j):]))
		}
	}
	return states, err
}

func (r *run) close() error {
	var err error
	if r.distributed != nil {
		err = r.distributed.Close()
	}
	if r.exec != nil {
		err = r.exec.Close()
	}
	if r.loop != nil {
		err = r.loop.Close()
	}
	if r.trace == nil {
		stopped := r.t.Err()
		var failed error
		if r.trace, failed = r.t.Finish(); failed != nil { // on failure it has freed everything
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
