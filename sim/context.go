package sim

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// background is the device at work on a goroutine of its own, for a caller whose context may end before the work does.
type background struct {
	stop     atomic.Bool   // begin no other task
	ended    chan struct{} // closed when the goroutine has ended
	finished bool          // it returned, and neither panicked nor exited
	panicked any
}

// SynchronizeContext is Synchronize that returns when ctx is done, also in the middle of a kernel. The kernel or host
// call that runs then goes on in the background, and nothing begins after it; the next call into the device waits for
// it, and the next call that waits has the device go on. Virtual time has passed by then as far as the device has come,
// so that it depends on when ctx was done.
func (d *Device) SynchronizeContext(ctx context.Context, h device.Stream) error {
	if ctx == nil {
		return unset("SynchronizeContext", "the context")
	}
	if ctx.Done() == nil || d.outside != nil { // a device whose callers take turns is not waited for on another goroutine
		return d.Synchronize(h)
	}
	if err := d.rejoin(ctx, d.running); err != nil {
		return err
	}
	s, bad := d.streams.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("Synchronize")
	}
	var room front
	left := slices.DeleteFunc(d.appendFront(room[:0], s), d.clock.Ended)
	if len(left) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := d.rejoin(ctx, d.detach(left)); err != nil {
			return err
		}
	}
	return d.Synchronize(h)
}

// detach runs the device until tasks have ended, on another goroutine.
func (t *sharedTime) detach(tasks []des.TaskID) *background {
	b := &background{ended: make(chan struct{})}
	t.clock.StopWhen(b.stop.Load)
	go b.run(t.clock, tasks)
	return b
}

func (b *background) run(c *des.Clock, tasks []des.TaskID) {
	defer func() {
		if !b.finished {
			b.panicked = recover()
		}
		close(b.ended)
	}()
	for _, t := range tasks {
		c.TryWait(t)
	}
	b.finished = true
}

// rejoin waits until b, nil for nothing, has ended. When ctx is done first, it has b stop, which the next call waits
// for, and returns the error of ctx.
func (t *sharedTime) rejoin(ctx context.Context, b *background) error {
	if b == nil {
		return nil
	}
	select {
	case <-b.ended:
	case <-ctx.Done():
		b.stop.Store(true)
		t.running = b
		return ctx.Err()
	}
	t.running = nil
	t.clock.StopWhen(nil)
	t.host = max(t.host, t.clock.Now())
	b.rethrow()
	return nil
}

// rethrow ends the caller's goroutine in the way that the other one ended.
func (b *background) rethrow() {
	switch {
	case b.panicked != nil:
		panic(b.panicked)
	case !b.finished:
		runtime.Goexit()
	}
}

// settled waits until nothing runs in the background.
func (t *sharedTime) settled() {
	if t.running != nil {
		_ = t.rejoin(context.Background(), t.running)
	}
}
