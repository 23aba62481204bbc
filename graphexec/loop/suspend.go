package loop

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/beside"
)

// flight is a run of a loop. A run that can be cancelled has a goroutine of its own. This and the caller's goroutine never
// run at the same time. If the context is done while the run waits for the device, the run is suspended. It continues
// when a call waits for it again.
type flight struct {
	*beside.Run                 // nil when nothing is suspended
	ctx         context.Context // of the present wait
	proceed     chan struct{}   // lets the run go on
	stopped     chan func()     // the run has stopped, for the caller to call the function; nil if it is suspended
	result      Result
	err         error
}

// fly runs the loop until it ends or ctx is done.
func (x *Exec) fly(ctx context.Context) (Result, error) {
	f := &x.flight
	if ctx.Done() == nil {
		f.ctx = ctx
		x.land(ctx)
		return f.result, f.err
	}
	f.proceed, f.stopped = make(chan struct{}), make(chan func())
	f.Run = beside.Start(func() {
		<-f.proceed
		x.land(ctx)
	})
	if err := x.resume(ctx); err != nil {
		return x.result(Cancelled), err
	}
	return f.result, f.err
}

// stop passes control from the goroutine of the run to the caller, and returns when the caller lets the run continue.
func (f *flight) stop(call func()) {
	f.stopped <- call
	<-f.proceed
}

// land runs the loop to its end.
func (x *Exec) land(ctx context.Context) {
	ending, err := x.run(ctx)
	x.stats.Iterations += x.done
	x.flight.result, x.flight.err = x.result(ending), err
}

func (x *Exec) result(e Ending) Result {
	return Result{Iterations: x.done, Ending: e, Lowering: x.chose, Batch: x.batch, Why: x.why}
}

// resume continues a suspended run until it ends. It returns the error of ctx if that is done first.
func (x *Exec) resume(ctx context.Context) error {
	f := &x.flight
	if f.Run == nil {
		return nil
	}
	late, cancel := delayed(ctx)
	defer cancel()
	f.ctx = late
	for {
		f.proceed <- struct{}{}
		select {
		case call := <-f.stopped:
			if call == nil {
				return ctx.Err()
			}
			call()
		case <-f.Ended():
			run := f.Run
			f.Run = nil
			run.Rethrow()
			return nil
		}
	}
}

// observe calls Observe on the caller's goroutine.
func (x *Exec) observe() {
	call := func() { x.loop.Observe(x.done) }
	if f := &x.flight; f.Run != nil {
		f.stop(call)
		return
	}
	call()
}

// grace is the time that a run waits for iterations in flight after its context is done, before it is suspended. Most
// end within that time, and then whole iterations are in the buffers when Run returns.
const grace = 50 * time.Millisecond

// delayed returns a context that is done when ctx has been done for the time grace.
func delayed(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}

// wait waits for a stream on behalf of the run.
func (x *Exec) wait(s device.Stream) error {
	f := &x.flight
	for {
		err := x.dev.SynchronizeContext(f.ctx, s)
		if done := f.ctx.Err(); done == nil || f.Run == nil || !errors.Is(err, done) {
			return err
		}
		f.stop(nil)
	}
}

// Wait waits for the iterations that a cancelled Run left in flight, and returns the result of that run. Its Iterations
// are those whose results are in the buffers now. After a Run that was not cancelled, Wait returns the result of that Run
// again; before the first Run, it returns a zero Result. If ctx is done first, Wait returns the error of ctx, and may be
// called again.
func (x *Exec) Wait(ctx context.Context) (Result, error) {
	if ctx == nil {
		return Result{}, absent.Nil("the context")
	}
	if err := x.begin(); err != nil {
		return Result{}, err
	}
	defer x.end()
	if err := x.resume(ctx); err != nil {
		return x.result(Cancelled), x.wrap(err)
	}
	f := &x.flight
	if f.result.Ending == Cancelled && (errors.Is(f.err, context.Canceled) || errors.Is(f.err, context.DeadlineExceeded)) {
		return f.result, nil
	}
	return f.result, f.err
}
