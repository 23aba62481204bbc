package sim

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/beside"
	"github.com/reprise-gpu/reprise/internal/des"
)

// SynchronizeContext is Synchronize, but also returns when ctx is done, even during a kernel. The running kernel or
// host call then continues in the background, and nothing starts after it. The next call of the device waits for it,
// and the next call that waits resumes the device. The virtual time reached by then depends on when ctx was done.
func (d *Device) SynchronizeContext(ctx context.Context, h device.Stream) error {
	if ctx == nil {
		return unset("SynchronizeContext", "the context")
	}
	if ctx.Done() == nil || d.outside != nil { // with Outside set, callers take turns, and the wait stays on the goroutine of the caller
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

// detach runs the device on another goroutine until the tasks have ended.
func (t *sharedTime) detach(tasks []des.TaskID) *beside.Run {
	return beside.Start(func() {
		for _, id := range tasks {
			t.clock.TryWait(id)
		}
	})
}

// rejoin waits until b has ended; b may be nil. If ctx is done first, it stops b before its next task and returns the
// error of ctx. The next call waits until b has stopped.
func (t *sharedTime) rejoin(ctx context.Context, b *beside.Run) error {
	if b == nil {
		return nil
	}
	select {
	case <-b.Ended():
	case <-ctx.Done():
		t.pause.Store(true)
		t.running = b
		return ctx.Err()
	}
	t.running = nil
	t.pause.Store(false)
	t.host = max(t.host, t.clock.Now())
	b.Rethrow()
	return nil
}

// settled waits until nothing runs in the background.
func (t *sharedTime) settled() {
	if t.running != nil {
		_ = t.rejoin(context.Background(), t.running)
	}
}
