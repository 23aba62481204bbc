package sim

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// A device that is closed with long work under way leaves the host's time after it, so that other devices of the
// system, and those made later, can be given work.
func TestCloseWaitsInTheTimeOfTheHost(t *testing.T) {
	s := NewSystem()
	g := s.GPU(1 << 30)
	long := &device.Copy{Bytes: 16 << 20} // over the host link
	other := newUncheckedRig(t, Options{On: g})
	for range 2 {
		d := newUncheckedRig(t, Options{On: g})
		var err error
		long.Dst, err = d.Alloc(long.Bytes)
		d.ok(err)
		long.Src, _, err = d.AllocHost(long.Bytes)
		d.ok(err)
		before := s.Now()
		d.ok(d.Submit(d.streams[0], long))
		d.ok(d.Close())
		assert.Greater(t, s.Now()-before, 100*time.Microsecond)
		other.ok(other.Submit(other.streams[0], fillOf(other.buffers[0], 3)))
	}
	require.EqualValues(t, 3, other.word(other.buffers[0]))
}

// sharedPair is two devices of a system that several goroutines use under one lock, as Outside says.
func sharedPair(t *testing.T) (a, b *rig, mu *sync.Mutex) {
	mu = &sync.Mutex{}
	a, b = pair(t, Options{Outside: func(f func()) {
		mu.Unlock()
		defer mu.Lock()
		f()
	}})
	return a, b, mu
}

// Calls that wait when another caller closes the device end as if it had been closed after them; those that begin while it
// closes are refused.
func TestCloseWaitsForCallsThatWait(t *testing.T) {
	d, _, mu := sharedPair(t)
	mu.Lock()
	defer mu.Unlock()
	s := d.streams[0]
	p, err := d.Alloc(16)
	d.ok(err)
	e, err := d.CreateEvent()
	d.ok(err)
	gate := make(chan struct{})
	d.ok(d.Submit(s, &device.HostCall{Func: func() error { <-gate; return nil }}))
	d.ok(d.Submit(s, &device.HostCall{Func: func() error { return nil }}))
	d.ok(d.Record(e, s))
	calls := []func() error{
		func() error { return d.Synchronize(s) }, func() error { return d.Query(s) }, d.SynchronizeAll,
		func() error { return d.SynchronizeEvent(e) }, func() error { return d.QueryEvent(e) },
		func() error { return d.Free(p) }, func() error { return d.UnloadModule(d.modules.All()[0]) },
		func() error { _, err := d.Elapsed(e, e); return err }, func() error { d.GraphMemory(); return nil },
		func() error { return d.Read(make([]byte, 4), d.buffers[0]) },
	}
	var all sync.WaitGroup
	begun := 0
	for i, call := range calls {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			begun++
			if err := call(); err != nil {
				assert.Equal(t, device.NotReady, device.CodeOf(err), "call %d: %v", i, err)
			}
		})
	}
	all.Go(func() {
		for refused := false; !refused; time.Sleep(time.Millisecond) {
			mu.Lock()
			_, err := d.Alloc(1)
			refused = device.CodeOf(err) == device.Deinitialized
			mu.Unlock()
		}
		close(gate)
	})
	for begun < len(calls) {
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
	}
	d.ok(d.Close())
	assert.Zero(t, d.waiting)
	mu.Unlock()
	all.Wait()
	mu.Lock()
}

// While a call waits for the work of one device, another may be closed whose turn comes later.
func TestADeviceIsClosedWhileTheSystemIsWaitedFor(t *testing.T) {
	s := NewSystem()
	var last *rig
	first := newUncheckedRig(t, Options{On: s.GPU(1 << 30), Outside: func(f func()) {
		f()
		if !last.closed {
			assert.NoError(t, last.Close())
		}
	}})
	last = newUncheckedRig(t, Options{On: s.GPU(1 << 30), Outside: func(f func()) { f() }})
	first.ok(first.Submit(first.streams[0], &device.HostCall{Func: func() error { return nil }}))
	s.drain()
	assert.True(t, last.closed)
	first.ok(first.Query(first.streams[0]))
}
