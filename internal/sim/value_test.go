package sim

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// shared is a device that several goroutines use under one lock, as Outside says.
func shared(t *testing.T) (*Device, *sync.Mutex) {
	var mu sync.Mutex
	return open(t, Options{Outside: func(f func()) {
		mu.Unlock()
		defer mu.Lock()
		f()
	}}), &mu
}

func word(t *testing.T, d *Device, p device.Ptr) uint64 {
	var b [8]byte
	require.NoError(t, d.Read(b[:], p))
	return binary.LittleEndian.Uint64(b[:])
}

// Each wait ends with the values that the driver's documentation says, and lasts as
// long as memory holds another. The stores are of another stream.
func TestWaitsForValues(t *testing.T) {
	for _, c := range []struct {
		kind     ValueKind
		width    int
		value    uint64
		not, yes uint64
	}{
		{WaitGEQ, 4, 5, 4, 5}, {WaitGEQ, 4, 5, 0xffffffff, 6}, {WaitGEQ, 4, 0xffffffff, 0x7fffffff, 2},
		{WaitGEQ, 8, 1 << 40, 1<<40 - 1, 1 << 41}, {WaitEqual, 4, 7, 8, 7}, {WaitEqual, 8, 7 << 32, 7, 7 << 32},
		{WaitAnd, 4, 6, 1, 2}, {WaitAnd, 8, 1 << 60, 1, 1 << 60}, {WaitNor, 4, 0xffff0000, 0xffff, 0xfffe},
	} {
		d := open(t, Options{})
		p, err := d.Alloc(16)
		require.NoError(t, err)
		a, err := d.CreateStream(0)
		require.NoError(t, err)
		b, err := d.CreateStream(0)
		require.NoError(t, err)
		write := func(s device.Stream, at device.Ptr, v uint64) {
			require.NoError(t, d.Submit(s, &Values{Ops: []ValueOp{{Kind: WriteValue, Ptr: at, Value: v, Width: c.width}}}))
		}
		write(a, p, c.not)
		require.NoError(t, d.Submit(a, &Values{Ops: []ValueOp{{Kind: c.kind, Ptr: p, Value: c.value, Width: c.width}}}))
		write(a, p+8, 1)
		d.WaitUntil(d.Now() + time.Second)
		require.Equal(t, device.NotReady, device.CodeOf(d.Query(a)), "%+v", c)
		write(b, p, c.yes)
		require.NoError(t, d.Synchronize(a), "%+v", c)
		require.Equal(t, uint64(1), word(t, d, p+8), "%+v", c)
		require.NoError(t, d.Close())
	}
}

// What can never be is a timeout on a device with one caller, and wrong words are
// refused.
func TestValuesThatNobodyWrites(t *testing.T) {
	d := open(t, Options{})
	p, err := d.Alloc(16)
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	for _, o := range []ValueOp{{Width: 2, Ptr: p}, {Width: 4, Ptr: p + 2}, {Width: 8, Ptr: p + 4}, {Width: 4, Ptr: p + 16}, {Kind: 5, Width: 4, Ptr: p}} {
		require.Equal(t, device.InvalidValue, device.CodeOf(d.Submit(s, &Values{Ops: []ValueOp{o}})), "%+v", o)
	}
	require.NoError(t, d.Submit(s, &Values{Ops: []ValueOp{{Kind: WaitEqual, Ptr: p, Value: 1, Width: 4}}}))
	require.Equal(t, device.LaunchTimeout, device.CodeOf(d.Synchronize(s)))
}

// A value may come from another caller, who enqueues its store while the first waits.
func TestAnotherCallerWritesTheValue(t *testing.T) {
	d, mu := shared(t)
	mu.Lock()
	defer mu.Unlock()
	p, err := d.Alloc(16)
	require.NoError(t, err)
	a, err := d.CreateStream(0)
	require.NoError(t, err)
	b, err := d.CreateStream(0)
	require.NoError(t, err)
	require.NoError(t, d.Submit(a, &Values{Ops: []ValueOp{{Kind: WaitEqual, Ptr: p, Value: 1, Width: 4}}}))
	go func() {
		mu.Lock()
		defer mu.Unlock()
		assert.NoError(t, d.Submit(b, &Values{Ops: []ValueOp{{Kind: WriteValue, Ptr: p, Value: 1, Width: 4}}}))
	}()
	require.NoError(t, d.SynchronizeAll())
}

// A host call may wait for another caller, which may wait for work that needs nothing of the call.
func TestHostCallsLetOthersIn(t *testing.T) {
	d, mu := shared(t)
	mu.Lock()
	defer mu.Unlock()
	a, err := d.CreateStream(0)
	require.NoError(t, err)
	b, err := d.CreateStream(0)
	require.NoError(t, err)
	inside, done := make(chan bool), make(chan error, 1)
	ended := false
	p, err := d.Alloc(1 << 26)
	require.NoError(t, err)
	require.NoError(t, d.Submit(a, &device.Memset{Dst: p, Value: 1, Width: 4, Count: 1 << 24})) // so that the call begins after the host's time
	require.NoError(t, d.Submit(a, &device.HostCall{Func: func() error { close(inside); done <- <-done; ended = true; return nil }}))
	go func() {
		<-inside
		mu.Lock()
		defer mu.Unlock()
		assert.NoError(t, d.Submit(b, device.Nothing{}))
		err := d.Synchronize(b)
		assert.False(t, ended)
		done <- err
	}()
	require.NoError(t, d.Synchronize(a))
	require.True(t, ended)
	require.NoError(t, <-done)
}

// A caller may hold a lock that a host call takes: no call that does not wait for the host call runs it or waits for it.
func TestCallersMayHoldLocks(t *testing.T) {
	d, mu := shared(t)
	mu.Lock()
	defer mu.Unlock()
	a, err := d.CreateStream(0)
	require.NoError(t, err)
	var lock sync.Mutex
	ran := false
	lock.Lock()
	require.NoError(t, d.Submit(a, &device.HostCall{Func: func() error { lock.Lock(); defer lock.Unlock(); ran = true; return nil }}))
	d.WaitUntil(d.Now() + time.Millisecond)
	require.Equal(t, device.NotReady, device.CodeOf(d.Query(a)))
	p, err := d.Alloc(4 * rigWords)
	require.NoError(t, err)
	require.NoError(t, d.Submit(a, fillOf(p, 3)))
	require.Equal(t, device.NotReady, device.CodeOf(d.Query(a)))
	require.False(t, ran)
	lock.Unlock()
	require.NoError(t, d.Synchronize(a))
	require.True(t, ran)
	require.EqualValues(t, 3, uint32(word(t, d, p)))
}

// Virtual times are the same as if the caller ran the host calls, also of several streams and with a fault or error.
func TestHostCallsTakeTheSameTime(t *testing.T) {
	run := func(d *Device) (ends [2]time.Duration, failed error) {
		var streams [2]device.Stream
		for i := range streams {
			var err error
			streams[i], err = d.CreateStream(0)
			require.NoError(t, err)
		}
		p, err := d.Alloc(1 << 20)
		require.NoError(t, err)
		for i := range 20 {
			s := streams[i*i%3%2]
			require.NoError(t, d.Submit(s, &device.Memset{Dst: p, Value: uint32(i), Width: 4, Count: 1 << 18}))
			require.NoError(t, d.Submit(s, &device.HostCall{Func: func() error {
				if i == 18 {
					return errors.New("the last but one")
				}
				return nil
			}}))
		}
		failed = d.SynchronizeAll()
		for i, s := range streams {
			_ = d.Synchronize(s)
			ends[i] = d.Now()
		}
		return ends, failed
	}
	want, wantErr := run(open(t, Options{}))
	d, mu := shared(t)
	mu.Lock()
	defer mu.Unlock()
	got, gotErr := run(d)
	require.Equal(t, want, got)
	require.Equal(t, wantErr, gotErr)
}

// A caller that is let in while another asks about its stream does not change the
// answer.
func TestOthersDoNotChangeTheAnswer(t *testing.T) {
	d, mu := shared(t)
	mu.Lock()
	defer mu.Unlock()
	a, err := d.CreateStream(0)
	require.NoError(t, err)
	b, err := d.CreateStream(0)
	require.NoError(t, err)
	inside, asks, done := make(chan bool), make(chan bool), make(chan error)
	require.NoError(t, d.Submit(a, &device.HostCall{Func: func() error { close(inside); <-asks; return nil }}))
	go func() {
		<-inside
		mu.Lock()
		for range 10 {
			assert.NoError(t, d.Submit(b, &device.HostCall{Func: func() error { return nil }}))
		}
		close(asks)
		err := d.Synchronize(b)
		mu.Unlock()
		done <- err
	}()
	d.WaitUntil(d.Now() + time.Millisecond)
	require.NoError(t, d.Query(a))
	mu.Unlock()
	require.NoError(t, <-done)
	mu.Lock()
}

// A callback is made after a fault, too, and knows of it; a host call is not.
func TestCallbacksKnowOfFaults(t *testing.T) {
	d := open(t, Options{})
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	var told []device.Code
	callback := &Callback{Func: func(err error) { told = append(told, device.CodeOf(err)) }}
	require.NoError(t, d.Submit(s, callback))
	m, err := d.LoadModule("m", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { trap; }\n")
	require.NoError(t, err)
	f, err := d.Function(m, "k")
	require.NoError(t, err)
	one := device.Dim3{X: 1, Y: 1, Z: 1}
	require.NoError(t, d.Submit(s, &device.Launch{Function: f, Grid: one, Block: one}))
	require.NoError(t, d.Submit(s, callback))
	require.NoError(t, d.Submit(s, &device.HostCall{Func: func() error { t.Error("called after a fault"); return nil }}))
	require.Equal(t, device.LaunchFailed, device.CodeOf(d.Synchronize(s)))
	require.Equal(t, []device.Code{0, device.LaunchFailed}, told)
}
