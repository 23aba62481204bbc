//go:build cuda && cgo

package cuda

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestLibrariesWorkBetweenReplays enqueues work on the legacy stream with another binding of the driver, as a library does that
// is given no stream. It must run after the replay before it and before the replay after it, without a wait of the host.
func TestLibrariesWorkBetweenReplays(t *testing.T) {
	const elements = 32
	for _, form := range graphexec.Backends() {
		d := open(t)
		tr := tracer.New(d, "between", tracer.Deferred)
		k := tr.Module("square.ptx", square).Kernel("square")
		a, b := tr.Alloc("a", ir.U32, elements, ir.InOut), tr.Alloc("b", ir.U32, elements, ir.InOut)
		shape := tracer.Linear(1, elements)
		tr.Launch(k, shape, b, a)
		tr.Launch(k, shape, a, b)
		trace, err := tr.Finish()
		require.NoError(t, err)
		require.NoError(t, tracer.Write(a, slices.Repeat([]uint32{2}, elements)))
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "nimble"})
		require.NoError(t, err)
		exec, err := graphexec.Instantiate(d, plan.Schedule, trace, form)
		require.NoError(t, err)
		at, err := exec.Pointer("a")
		require.NoError(t, err)

		require.NoError(t, exec.Replay(t.Context())) // b is 4, a is 16
		require.NoError(t, fillAsALibrary(cu.DevicePtr(at), 3, elements))
		require.NoError(t, exec.Replay(t.Context())) // b is 9, a is 81
		require.NoError(t, exec.Wait(t.Context()))
		got := make([]uint32, elements)
		require.NoError(t, tracer.Read(got, b))
		assert.Equal(t, uint32(9), got[elements-1], form)
		require.NoError(t, tracer.Read(got, a))
		assert.Equal(t, uint32(81), got[elements-1], form)
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, d.Close())
	}
}

// fillAsALibrary enqueues a fill of words on the legacy stream of the primary context of the GPU.
func fillAsALibrary(at cu.DevicePtr, value uint, words int64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	gpu, err := cu.GetDevice(0)
	if err != nil {
		return err
	}
	context, err := gpu.RetainPrimaryCtx()
	if err != nil {
		return err
	}
	if err := cu.SetCurrentContext(context); err != nil {
		return err
	}
	if err := cu.MemsetD32Async(at, value, words, cu.Stream{}); err != nil {
		return err
	}
	if err := cu.SetCurrentContext(cu.CUContext{}); err != nil {
		return err
	}
	return gpu.ReleasePrimaryCtx()
}
