package null

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// unsupported is every behaviour that looks at what work has done.
func unsupported() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"memory/round trip of odd sizes", "memory/memset widths", "memory/copies between pinned and device memory",
		"memory/overlapping parts of a buffer",
		"memory/module variables", "launch/kernel computes", "launch/static and dynamic shared memory", "launch/parameters are copied",
		"order/stream is a FIFO", "order/chain over three streams", "order/join of two streams",
		"order/wait takes the last record before it", "order/host calls run in stream order", "order/host call sees a copy out", "order/host calls fail and panic once", "order/writes wait for work",
		"context/a wait that is given up loses no work", "context/a wait without a deadline is a wait", "context/a device closes after a wait that was given up",
		"graph/diamond", "graph/launched again without waiting", "graph/launches of one instance do not overlap",
		"graph/is ordered with its stream", "graph/every kind of node",
		"graph/update changes later launches only", "graph/nodes updated together", "graph/launches switched off and on", "commands/launches switched off and on", "graph/instance outlives its graph",
		"managed/kernels and the host share it", "managed/prefetches are ordered with their stream",
		"managed/prefetches in a command list", "managed/copies and memsets reach it",
		"commands/streams and events", "commands/submitted again without waiting", "commands/submitted in parts, going round", "commands/run graph instances", "commands/update changes later submissions only",
		"faults/surface at the next wait", "faults/poison the device", "faults/are described", "faults/kernels cannot reach pinned memory",
	} {
		out[name] = "nothing is executed"
	}
	for _, name := range devicetest.Names() {
		if strings.HasPrefix(name, "conditional/") {
			out[name] = "no kernel runs that could set a condition"
		}
	}
	for _, name := range []string{
		"errors/unknown kernel", "errors/parameter block of the wrong size",
		"errors/invalid PTX is refused", "errors/invalid PTX names the place",
	} {
		out[name] = "PTX is not read"
	}
	return out
}

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() device.Device { return New() }, unsupported())
}

// Wrappers are devices too.
func TestConformanceOfAWrappedDevice(t *testing.T) {
	through := func(_ *wrap.Call, next func() error) error { return next() }
	devicetest.Run(t, func() device.Device { return wrap.Intercept(New(), through) }, unsupported())
}

// unsupportedPeers is every behaviour of peers that looks at what work has done.
func unsupportedPeers() map[string]string {
	out := map[string]string{}
	for _, name := range []string{
		"copies in a stream of either", "copies without access are refused", "copies in graphs and lists", "graphs with nodes of both", "pinned memory of either", "only copies cross devices",
		"kernels access the other memory", "events order devices", "wait takes the last record before it", "lists wait for each other, going round",
		"lists submitted in parts", "closed device", "a fault stays on its device",
	} {
		out["peers/"+name] = "nothing is executed"
	}
	return out
}

func TestConformanceOfPeers(t *testing.T) {
	devicetest.RunPeers(t, func() (device.Device, device.Device) {
		d := NewPeers(2)
		return d[0], d[1]
	}, unsupportedPeers())
}

// TestPeers checks the refusals of behaviours that the conformance suite checks together with results.
func TestPeers(t *testing.T) {
	list := NewPeers(2)
	a, b, alone := list[0], list[1], New()
	s, err := a.CreateStream(0)
	require.NoError(t, err)
	p, err := a.Alloc(100)
	require.NoError(t, err)
	q, err := b.Alloc(100)
	require.NoError(t, err)
	h, _, err := b.AllocHost(100)
	require.NoError(t, err)
	to := func(dst device.Ptr) error { return a.Submit(s, &device.Copy{Dst: dst, Src: p, Bytes: 100}) }
	assert.NoError(t, to(h), "pinned memory is of all devices")
	assert.ErrorContains(t, to(q), "memory of another device, null: call EnablePeer first")
	assert.Equal(t, device.NotSupported, device.CodeOf(a.EnablePeer(alone)))
	require.NoError(t, a.EnablePeer(b))
	assert.NoError(t, to(q))
	assert.ErrorContains(t, a.Submit(s, &device.Memset{Dst: q, Width: 1, Count: 1}), "only copies access it")
	assert.ErrorContains(t, a.Write(q, []byte{1}), "only copies access it")
	e, err := b.CreateEvent()
	require.NoError(t, err)
	l, err := a.CompileCommands([]device.Command{{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: b}})
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(10, func() { _ = a.SubmitCommands(l, 0, 1) }))
	require.NoError(t, b.Close())
	assert.ErrorContains(t, a.SubmitCommands(l, 0, 1), "command 0 waits for an event of another device that was destroyed")
	assert.ErrorContains(t, a.WaitPeer(s, b, e), "the other device has been closed")
	assert.Equal(t, device.InvalidValue, device.CodeOf(to(q)))
	assert.False(t, a.CanPeer(b))
}

func TestReplaysAllocateNothing(t *testing.T) {
	d := New()
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	e, err := d.CreateEvent()
	require.NoError(t, err)
	g, err := d.CreateGraph()
	require.NoError(t, err)
	_, err = d.AddNode(g, nil, device.Nothing{})
	require.NoError(t, err)
	x, err := d.Instantiate(g)
	require.NoError(t, err)
	l, err := d.CompileCommands([]device.Command{
		{Kind: device.Run, Stream: s, Work: device.Nothing{}}, {Kind: device.Record, Stream: s, Event: e}})
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = d.SubmitCommands(l, 0, 2)
		_ = d.LaunchGraph(x, s)
		_ = d.Submit(s, device.Nothing{})
		_ = d.Synchronize(s)
	}))
}

func TestAddressesAreNotGivenOutAgain(t *testing.T) {
	d := New()
	seen := map[device.Ptr]bool{}
	for range 100 {
		p, err := d.Alloc(1000)
		require.NoError(t, err)
		assert.False(t, seen[p])
		seen[p] = true
		require.NoError(t, d.Free(p))
	}
}
