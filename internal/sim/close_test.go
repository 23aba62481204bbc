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

// Calls that wait for all work do not wait for what other callers enqueue meanwhile, and give up nothing that this uses.
func TestWaitsAreForTheWorkThatThereIs(t *testing.T) {
	const most = 100
	for name, call := range map[string]func(*rig) error{
		"SynchronizeAll": func(r *rig) error { return r.SynchronizeAll() },
		"Free":           func(r *rig) error { return r.Free(r.buffers[3]) },
		"Read":           func(r *rig) error { return r.Read(make([]byte, 4), r.buffers[0]) },
		"System":         func(r *rig) error { r.gpu.system.drain(); return nil },
	} {
		for _, race := range []Race{RaceOff, RaceOn} {
			var r *rig
			enqueued, ran := 0, 0
			work := &device.HostCall{Func: func() error { ran++; return nil }}
			enqueue := func() {
				if enqueued < most {
					enqueued++
					r.ok(r.Submit(r.streams[0], work))
				}
			}
			r = newUncheckedRig(t, Options{Race: race, Outside: func(f func()) {
				f()
				enqueue()
				enqueue()
			}})
			enqueue()
			enqueue()
			r.ok(call(r))
			assert.GreaterOrEqual(t, ran, 2, "%s", name)
			assert.Less(t, ran, 10, "%s", name)
			assert.Less(t, enqueued, most, "%s", name)
			enqueued = most
			r.ok(r.SynchronizeAll())
			r.ok(r.Close())
		}
	}
}

// What another caller has launched and destroyed while a call waits for earlier work runs afterwards, and its races are found.
func TestWaitsLeaveLaterWorkWhole(t *testing.T) {
	var r *rig
	later := func() {}
	r = newUncheckedRig(t, Options{Race: RaceOn, Outside: func(f func()) {
		f()
		later()
	}})
	g, err := r.CreateGraph()
	r.ok(err)
	c, err := r.CreateCondition(g, 1)
	r.ok(err)
	_, bodies, err := r.AddConditional(g, nil, device.Conditional{Condition: c, Kind: device.If, Bodies: 1})
	r.ok(err)
	_, err = r.AddNode(bodies[0], nil, fillOf(r.buffers[0], 7))
	r.ok(err)
	x, err := r.Instantiate(g)
	r.ok(err)
	call := &device.HostCall{Func: func() error { return nil }}
	r.ok(r.Submit(r.streams[0], call))
	later = func() {
		later = func() {}
		r.ok(r.Submit(r.streams[0], call))
		r.ok(r.LaunchGraph(x, r.streams[0]))
		r.ok(r.DestroyGraphExec(x))
		r.ok(r.DestroyGraph(g))
	}
	r.ok(r.SynchronizeAll())
	r.ok(r.Submit(r.streams[1], fillOf(r.buffers[0], 8)))
	var races *RaceError
	require.ErrorAs(t, r.SynchronizeAll(), &races)
	assert.EqualValues(t, 7, r.word(r.buffers[0]))
}

// What another caller has enqueued while a call waits is not ordered with what comes after the wait, even if it has run.
func TestWaitsOrderOnlyTheWorkThatThereWas(t *testing.T) {
	var r *rig
	call := &device.HostCall{Func: func() error { return nil }}
	later := func() {
		r.ok(r.Submit(r.streams[1], fillOf(r.buffers[0], 7)))
		for range 30 {
			r.ok(r.Submit(r.streams[2], call))
		}
	}
	r = newUncheckedRig(t, Options{Race: RaceOn, Outside: func(f func()) {
		f()
		later()
		later = func() {}
	}})
	for range 10 {
		r.ok(r.Submit(r.streams[0], call))
	}
	r.ok(r.SynchronizeAll())
	filled, bad := r.Device.streams.Get(r.streams[1])
	require.Nil(t, bad)
	require.True(t, r.engine.Ended(filled.tail))
	assert.False(t, r.engine.Idle())
	r.ok(r.Submit(r.streams[3], fillOf(r.buffers[0], 8)))
	assert.Empty(t, r.Findings())
	var races *RaceError
	require.ErrorAs(t, r.SynchronizeAll(), &races)
}
