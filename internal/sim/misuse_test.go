package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

func TestHostCallMustNotCallTheDevice(t *testing.T) {
	x := newTimeline(t)
	var got error
	require.NoError(t, x.Submit(x.s1, &device.HostCall{Label: "nosy", Func: func() error { got = x.SynchronizeAll(); return nil }}))
	require.NoError(t, x.Synchronize(x.s1))
	assert.EqualError(t, got, `SynchronizeAll: CUDA_ERROR_NOT_SUPPORTED (801): host call "nosy" calls the device; a host call must not`)
}

// A graph may outlive the memory it was made for; running it then is the
// program's fault, which the device must survive.
func TestGraphOnFreedMemoryFaults(t *testing.T) {
	x := newTimeline(t)
	g, err := x.CreateGraph()
	require.NoError(t, err)
	_, err = x.AddNode(g, nil, x.in)
	require.NoError(t, err)
	exec, err := x.Instantiate(g)
	require.NoError(t, err)
	require.NoError(t, x.Free(x.dev))
	require.NoError(t, x.LaunchGraph(exec, x.s1))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(x.Synchronize(x.s1)))
	assert.NoError(t, x.Close())
}

func TestKernelOnFreedMemoryFaults(t *testing.T) {
	r := newRig(t, Options{})
	l := r.launchAffine(r.buffers[1], r.buffers[0], 1, 1)
	for range 5 { // the memo knows the launch by then
		r.ok(r.Submit(r.streams[0], l))
	}
	r.ok(r.Free(r.buffers[0]))
	r.ok(r.Submit(r.streams[0], l))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(r.Synchronize(r.streams[0])))
}

func TestCommandListWithADestroyedStreamIsRefused(t *testing.T) {
	x := newTimeline(t)
	l, err := x.CompileCommands([]device.Command{{Kind: device.Run, Stream: x.s1, Work: x.in}, {Kind: device.Record, Stream: x.s2, Event: x.e1}})
	require.NoError(t, err)
	require.NoError(t, x.DestroyStream(x.s2))
	before := x.Now()
	err = x.SubmitCommands(l, 0, 2)
	assert.Equal(t, device.InvalidHandle, device.CodeOf(err))
	assert.Equal(t, before, x.Now(), "nothing of it was submitted")
}

func TestMemoryLimit(t *testing.T) {
	d := open(t, Options{Memory: 1000})
	_, err := d.Alloc(600)
	require.NoError(t, err)
	_, err = d.Alloc(600)
	assert.Equal(t, device.OutOfMemory, device.CodeOf(err))
	assert.EqualValues(t, 1000, d.Info().MemoryBytes)
}

// What was executed before a fault stays counted and seen; nothing after it is
// executed, on any stream.
func TestNothingExecutesAfterAFault(t *testing.T) {
	r := newRig(t, Options{})
	m, err := r.LoadModule("kernels.ptx", kernels(t))
	r.ok(err)
	stray, err := r.Function(m, "stray")
	r.ok(err)
	ran := 0
	call := &device.HostCall{Func: func() error { ran++; return nil }}
	r.ok(r.Submit(r.streams[0], call))
	bad := r.over(stray, append(make([]byte, 8), 0, 0, 0, 0, 0, 1, 0, 0))
	r.ok(r.Submit(r.streams[0], bad))
	r.ok(r.Submit(r.streams[0], call))
	r.ok(r.Submit(r.streams[1], r.launchAffine(r.buffers[0], r.buffers[0], 1, 1)))
	assert.Error(t, r.SynchronizeAll())
	assert.Equal(t, 1, ran)
}
