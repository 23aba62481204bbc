package loop

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/beside"
)

// flight is a run of a loop. A run that can be cancelled is on a goroutine of its own, which stops while the caller's
// runs: when its context is done while it waits for the device, it is suspended, and goes on where it was once a call waits
// for it again.
type flight struct {
	*beside.Run                 // nil when nothing is suspended
	ctx         context.Context // of the present wait
	proceed     chan struct{}   // lets the run go on
	stopped     chan func()     // the run has stopped: for the caller to call this, or suspended for nil
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

// stop hands over to the caller, from the goroutine of the run, until the caller lets it go on.
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

// resume lets a suspended run go on until it ends. It returns the error of ctx when that is done first.
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

// patience is how long a run waits for iterations in flight after its context is done, before it is suspended. Most
// end within that time, and then whole iterations are in the buffers when Run returns.
const patience = 50 * time.Millisecond

// delayed returns a context that is done some time after ctx is.
func delayed(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })
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

// Wait waits for the iterations that a Run left in flight when its context was done, and returns how that run ended: with
// as many whole iterations as there are in the buffers now. After a Run that returned without being cancelled it returns
// the same once more, and before the first Run a zero Result. When ctx is done first it returns the error of ctx, and may
// be called again.
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
