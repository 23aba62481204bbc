package sim

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/beside"
	"github.com/reprise-gpu/reprise/internal/des"
)

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
func (t *sharedTime) detach(tasks []des.TaskID) *beside.Run {
	return beside.Start(func() {
		for _, id := range tasks {
			t.clock.TryWait(id)
		}
	})
}

// rejoin waits until b, nil for nothing, has ended. When ctx is done first, it has b stop before the next task, which the
// next call waits for, and returns the error of ctx.
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
