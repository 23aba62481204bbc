//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// replay is a device with one object of each kind that a replay uses.
type replay struct {
	*gpuDevice
	stream device.Stream
	event  device.Event
	launch *device.Launch
	list   device.CommandList
	exec   device.GraphExec
}

func newReplay(t testing.TB) *replay {
	d, err := openGPU(0)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	r := &replay{gpuDevice: d}
	p, err := d.Alloc(4 * lanes)
	require.NoError(t, err)
	r.launch = squares(loadSquare(t, d), p, p)
	r.stream, err = d.CreateStream(0)
	require.NoError(t, err)
	r.event, err = d.CreateEvent()
	require.NoError(t, err)
	r.list, err = d.CompileCommands([]device.Command{{Stream: r.stream, Work: r.launch}, {Kind: device.Record, Stream: r.stream, Event: r.event}})
	require.NoError(t, err)
	g, err := d.CreateGraph()
	require.NoError(t, err)
	r.exec, err = d.Instantiate(g)
	require.NoError(t, err)
	return r
}

// TestReplaysAllocateNothing compares the allocations of each method that a replay calls with those of the driver call
// alone: the simulator, which runs in this process, may allocate.
func TestReplaysAllocateNothing(t *testing.T) {
	r := newReplay(t)
	s, _ := r.streams.Get(r.stream)
	e, _ := r.events.Get(r.event)
	l, _ := r.lists.Get(r.list)
	x, _ := r.execs.Get(r.exec)
	one := newScratch()
	defer one.free()
	for _, c := range []struct {
		name         string
		prepare      func()
		call, driver func()
	}{
		{"Submit", func() { _, _ = r.lower(one.one(), r.launch); one.one().on(s, 1) },
			func() { _ = r.Submit(r.stream, r.launch) }, func() { r.driver.submitOne(one.work) }},
		{"Record", func() { one.recordOf(e.ev, s) }, func() { _ = r.Record(r.event, r.stream) }, func() { r.driver.submitOne(one.record) }},
		{"Wait", func() { one.waitFor(e.ev, s) }, func() { _ = r.Wait(r.stream, r.event) }, func() { r.driver.submitOne(one.wait) }},
		{"SubmitCommands", func() {}, func() { _ = r.SubmitCommands(r.list, 0, 2) }, func() { r.driver.submit(l.steps, 0, 0, 0, 1, 0) }},
		{"LaunchGraph", func() {}, func() { _ = r.LaunchGraph(r.exec, r.stream) }, func() { r.driver.launchGraph(x.x, s) }},
		{"Synchronize", func() {}, func() { _ = r.Synchronize(r.stream) }, func() { r.driver.synchronize(s) }},
	} {
		c.prepare()
		count := func(f func()) float64 {
			return testing.AllocsPerRun(300, func() { f(); r.driver.synchronizeAll() })
		}
		count(c.call) // warm
		assert.Equal(t, count(c.driver), count(c.call), c.name)
	}
	require.NoError(t, r.SynchronizeAll())
}

// BenchmarkSubmit measures the host's time for a call, including the driver.
func BenchmarkSubmit(b *testing.B) {
	r := newReplay(b)
	b.Run("nothing", func(b *testing.B) {
		for b.Loop() {
			_ = r.Submit(r.stream, device.Nothing{})
		}
	})
	b.Run("wait", func(b *testing.B) {
		for b.Loop() {
			_ = r.Wait(r.stream, r.event)
		}
	})
}
