//go:build cuda && cgo

package cuda

import (
	"context"
	"sync/atomic"
	"time"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
)

// event records whether the event was recorded, because drivers report this differently.
type event struct {
	ev       cu.Event
	recorded bool
	gone     atomic.Bool // destroyed; command lists of other devices check it
}

// CreateStream creates a FIFO that is ordered with the legacy default stream. Only Write and Read use the legacy
// stream, so that they wait for all work and later work waits for them.
func (d *gpuDevice) CreateStream(priority int) (device.Stream, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("CreateStream")
	}
	defer d.mu.Unlock()
	priority = d.clampPriority(priority)
	var s cu.Stream
	err := d.gorgonia("cuStreamCreateWithPriority", func() (err error) {
		s, err = cu.MakeStreamWithPriority(priority, cu.DefaultStream)
		return err
	})
	if err != nil {
		return 0, err.In("CreateStream")
	}
	return d.streams.Add(s), nil
}

func (d *gpuDevice) clampPriority(p int) int {
	return min(max(p, d.info.GreatestPriority), d.info.LeastPriority)
}

// DestroyStream does not cancel work in progress. It returns after all concurrent Synchronize calls on the stream
// have returned.
func (d *gpuDevice) DestroyStream(h device.Stream) error {
	if err := d.enter(); err != nil {
		return err.In("DestroyStream")
	}
	defer d.mu.Unlock()
	s, err := d.streams.Get(h)
	if err != nil {
		return err.In("DestroyStream")
	}
	if err := d.destroyStream(s); err != nil {
		return err.In("DestroyStream")
	}
	destroyed.Add(1)
	_, err = d.streams.Remove(h)
	return err.In("DestroyStream")
}

func (d *gpuDevice) destroyStream(s cu.Stream) *device.Error {
	d.waits.Lock()
	defer d.waits.Unlock()
	return d.gorgonia("cuStreamDestroy", s.Destroy)
}

// Submit enqueues one piece of work. It allocates only for host calls.
func (d *gpuDevice) Submit(h device.Stream, w device.Work) error {
	if err := d.enter(); err != nil {
		return err.In("Submit")
	}
	defer d.mu.Unlock()
	return d.submit(h, w).In("Submit")
}

func (d *gpuDevice) submit(h device.Stream, w device.Work) *device.Error {
	s, err := d.streams.Get(h)
	if err != nil {
		return err
	}
	call, err := d.lower(d.scratch.one(), w)
	if err != nil {
		return err
	}
	d.scratch.one().on(s, 1)
	return d.enqueue(d.scratch.work, call)
}

// enqueue submits a single command. If it is a host call, call runs once.
func (d *gpuDevice) enqueue(one []step, call *hostCall) *device.Error {
	call.enqueued(1)
	defer call.release()
	if code := d.driver.submitOne(one); code != 0 {
		call.enqueued(-1)
		return d.failed(one[0].calls(0), code)
	}
	return nil
}

// Synchronize waits until the stream is empty. Other calls proceed meanwhile, so that replays of several goroutines
// do not wait for each other.
func (d *gpuDevice) Synchronize(h device.Stream) error {
	return d.SynchronizeContext(context.Background(), h)
}

// SynchronizeContext is Synchronize, but also returns when ctx is done. The wait of the driver has no deadline. It
// continues on a goroutine of its own, and DestroyStream waits for that.
func (d *gpuDevice) SynchronizeContext(ctx context.Context, h device.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.enter(); err != nil {
		return err.In("Synchronize")
	}
	defer d.mu.Unlock()
	s, err := d.streams.Get(h)
	if err != nil {
		return err.In("Synchronize")
	}
	d.waits.RLock()
	d.mu.Unlock()
	code, cancelled := d.await(ctx, s)
	d.mu.Lock()
	if cancelled != nil {
		return cancelled
	}
	return first(d.failed("cuStreamSynchronize", code), d.hosts.failure()).In("Synchronize")
}

// await waits for a stream until ctx is done. It releases d.waits when the stream is empty.
func (d *gpuDevice) await(ctx context.Context, s cu.Stream) (device.Code, error) {
	if ctx.Done() == nil {
		defer d.waits.RUnlock()
		return d.driver.synchronize(s), nil
	}
	ended := make(chan device.Code, 1)
	go func() {
		defer d.waits.RUnlock()
		ended <- d.driver.synchronize(s)
	}()
	select {
	case code := <-ended:
		return code, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// SynchronizeAll waits for all work.
func (d *gpuDevice) SynchronizeAll() error {
	if err := d.enter(); err != nil {
		return err.In("SynchronizeAll")
	}
	defer d.mu.Unlock()
	return d.waitAll().In("SynchronizeAll")
}

func (d *gpuDevice) waitAll() *device.Error {
	return first(d.failed("cuCtxSynchronize", d.driver.synchronizeAll()), d.hosts.failure())
}

// CreateEvent creates an event without a record.
func (d *gpuDevice) CreateEvent() (device.Event, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("CreateEvent")
	}
	defer d.mu.Unlock()
	e := &event{}
	err := d.gorgonia("cuEventCreate", func() (err error) { e.ev, err = cu.MakeEvent(cu.DefaultEvent); return err })
	if err != nil {
		return 0, err.In("CreateEvent")
	}
	return d.events.Add(e), nil
}

// DestroyEvent destroys the event. Existing waits on it remain.
func (d *gpuDevice) DestroyEvent(h device.Event) error {
	if err := d.enter(); err != nil {
		return err.In("DestroyEvent")
	}
	defer d.mu.Unlock()
	e, err := d.events.Get(h)
	if err != nil {
		return err.In("DestroyEvent")
	}
	if err := d.destroyEvent(e); err != nil {
		return err.In("DestroyEvent")
	}
	destroyed.Add(1)
	_, err = d.events.Remove(h)
	return err.In("DestroyEvent")
}

func (d *gpuDevice) destroyEvent(e *event) *device.Error {
	e.gone.Store(true)
	return d.gorgonia("cuEventDestroy", func() error { return cu.DestroyEvent(&e.ev) })
}

// Record sets the event to the present end of the stream.
func (d *gpuDevice) Record(eh device.Event, sh device.Stream) error {
	if err := d.enter(); err != nil {
		return err.In("Record")
	}
	defer d.mu.Unlock()
	e, badE := d.events.Get(eh)
	s, badS := d.streams.Get(sh)
	if err := first(badE, badS); err != nil {
		return err.In("Record")
	}
	if err := d.enqueue(d.scratch.recordOf(e.ev, s), nil); err != nil {
		return err.In("Record")
	}
	e.recorded = true
	return nil
}

// Wait makes later work of the stream wait for the event.
func (d *gpuDevice) Wait(sh device.Stream, eh device.Event) error {
	if err := d.enter(); err != nil {
		return err.In("Wait")
	}
	defer d.mu.Unlock()
	s, badS := d.streams.Get(sh)
	e, badE := d.events.Get(eh)
	if err := first(badS, badE); err != nil {
		return err.In("Wait")
	}
	return d.enqueue(d.scratch.waitFor(e.ev, s), nil).In("Wait")
}

// Elapsed returns the device time between two completed records. The driver returns milliseconds as a float32, with a
// resolution of half a microsecond at best.
func (d *gpuDevice) Elapsed(start, end device.Event) (time.Duration, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("Elapsed")
	}
	defer d.mu.Unlock()
	a, badA := d.events.Get(start)
	b, badB := d.events.Get(end)
	if err := first(badA, badB); err != nil {
		return 0, err.In("Elapsed")
	}
	for h, e := range map[device.Event]*event{start: a, end: b} {
		if !e.recorded {
			return 0, refuse(device.InvalidHandle, "event %d was never recorded", h).In("Elapsed")
		}
	}
	var ms float64
	err := d.gorgonia("cuEventElapsedTime", func() (err error) { ms, err = a.ev.Elapsed(b.ev); return err })
	return time.Duration(ms * float64(time.Millisecond)), err.In("Elapsed")
}
