//go:build cuda && cgo

package cuda

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// TestHostCallsAreFreed counts the handles that the driver holds.
func TestHostCallsAreFreed(t *testing.T) {
	d := open(t)
	defer d.Close()
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	live := func() int { return len(d.hosts.live) }
	runs := 0
	call := &device.HostCall{Label: "count", Func: func() error { runs++; return nil }}

	require.NoError(t, d.Submit(s, call))
	require.NoError(t, d.Synchronize(s))
	assert.Equal(t, 1, runs)
	assert.Zero(t, live(), "a submitted call has run")

	l, err := d.CompileCommands([]device.Command{{Stream: s, Work: call}, {Stream: s, Work: call}})
	require.NoError(t, err)
	require.NoError(t, d.SubmitCommands(l, 0, 2))
	require.NoError(t, d.DestroyCommandList(l))
	require.NoError(t, d.Synchronize(s))
	assert.Equal(t, 3, runs, "what was submitted runs without its list")
	assert.Zero(t, live())

	g, err := d.CreateGraph()
	require.NoError(t, err)
	n, err := d.AddNode(g, nil, call)
	require.NoError(t, err)
	x, err := d.Instantiate(g)
	require.NoError(t, err)
	require.NoError(t, d.DestroyGraph(g))
	assert.Equal(t, 1, live(), "the instance holds it")
	require.NoError(t, d.LaunchGraph(x, s))
	require.NoError(t, d.UpdateNode(x, n, &device.HostCall{Func: func() error { runs += 100; return nil }}))
	require.NoError(t, d.LaunchGraph(x, s))
	require.NoError(t, d.Synchronize(s))
	assert.Equal(t, 104, runs)
	require.NoError(t, d.DestroyGraphExec(x))
	assert.Zero(t, live())
}

func TestHostCallThatPanics(t *testing.T) {
	d := open(t)
	defer d.Close()
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	require.NoError(t, d.Submit(s, &device.HostCall{Label: "bad", Func: func() error { panic("boom") }}))
	err = d.Synchronize(s)
	assert.ErrorContains(t, err, `Synchronize: CUDA_ERROR_UNKNOWN (999): host call "bad" panicked: boom`)
	assert.NoError(t, d.Synchronize(s), "the error is returned once")
}

// TestHostCallThatExits ends the goroutine of a host call. Its thread must not stay marked as running a host call, on
// which device calls are refused.
func TestHostCallThatExits(t *testing.T) {
	d := open(t)
	defer d.Close()
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	for range 20 {
		require.NoError(t, d.Submit(s, &device.HostCall{Label: "exits", Func: func() error { runtime.Goexit(); return nil }}))
		assert.ErrorContains(t, d.Synchronize(s), `host call "exits": the function ended its goroutine`)
		p, err := d.Alloc(1)
		require.NoError(t, err)
		require.NoError(t, d.Free(p))
	}
}

func TestHostCallMustNotCallTheDevice(t *testing.T) {
	d := open(t)
	defer d.Close()
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	var inner, closing error
	require.NoError(t, d.Submit(s, &device.HostCall{Func: func() error {
		_, inner = d.Alloc(1)
		closing = d.Close()
		return nil
	}}))
	require.NoError(t, d.Synchronize(s))
	assert.Equal(t, device.NotSupported, device.CodeOf(inner), "%v", inner)
	assert.Equal(t, device.NotSupported, device.CodeOf(closing), "%v", closing)
}
