//go:build cuda && cgo

package cuda

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestLoops squares numbers until the greatest is small, twice in every lowering.
func TestLoops(t *testing.T) {
	const n, limit = 64, 1e-9
	d, err := openGPU(0)
	require.NoError(t, err)
	defer d.Close()
	tr := tracer.New(d, "squares", tracer.Deferred)
	k, ok := kernels.Lookup("square")
	require.True(t, ok)
	square := tr.Module(k.File, k.PTX).Kernel("square")
	x, y := tr.Alloc("x", ir.F32, n, ir.InOut), tr.Alloc("y", ir.F32, n, ir.Temporary)
	tr.Launch(square, tracer.Linear(1, n), x, y, n)
	tr.Copy(x, y)
	trace, err := tr.Finish()
	require.NoError(t, err)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	require.NoError(t, err)

	start := make([]float32, n)
	for i := range start {
		start[i] = 0.9 - float32(i)/100
	}
	for every := 1; every <= 3; every++ {
		want, iterations := append([]float32(nil), start...), 0
		for iterations == 0 || iterations%every != 0 || want[0] >= limit {
			for i, v := range want {
				want[i] = v * v
			}
			iterations++
		}
		for _, lowering := range []loop.Lowering{loop.Auto, loop.HostChecked, loop.Unrolled, loop.WhileNode} {
			loopExec, err := loop.Instantiate(d, loop.Loop{
				Body: plan.Schedule, Until: loop.Until{Buffer: x.ID(), Is: ir.Below, Value: limit},
				MaxIterations: 100, CheckEvery: every, Lowering: lowering, Overrun: loop.Undone,
			}, trace)
			require.NoError(t, err)
			for range 2 {
				require.NoError(t, tracer.Write(x, start))
				result, err := loopExec.Run(context.Background())
				require.NoError(t, err)
				assert.Equal(t, loop.Met, result.Ending)
				assert.Equal(t, iterations, result.Iterations, "%v, checked every %d", lowering, every)
				got := make([]float32, n)
				require.NoError(t, tracer.Read(got, x))
				for i := range got {
					require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "%v, element %d", lowering, i)
				}
			}
			require.NoError(t, loopExec.Close())
		}
	}
	require.NoError(t, trace.Close())
}

// TestRecordedLoops squares a number in a loop in the body of a loop, with a branch, as a graph and over streams.
func TestRecordedLoops(t *testing.T) {
	d, err := openGPU(0)
	require.NoError(t, err)
	defer d.Close()
	tr := tracer.New(d, "recorded", tracer.Deferred)
	k, ok := kernels.Lookup("square")
	require.True(t, ok)
	square := tr.Module(k.File, k.PTX).Kernel("square")
	buffer := func(name string) tracer.Buffer { return tr.Alloc(name, ir.F32, 1, ir.InOut) }
	x, y, z, outer := buffer("x"), buffer("y"), buffer("z"), buffer("outer")
	one := tracer.Linear(1, 32)
	tr.Loop(outer, ir.Below, 0.01, tracer.Limits{Iterations: 10}, func() {
		tr.Launch(square, one, outer, outer, 1)
		tr.Copy(x, y)
		tr.Loop(x, ir.AtLeast, 100, tracer.Limits{Iterations: 9, CheckEvery: 2}, func() { tr.Launch(square, one, x, x, 1) })
		tr.Branch(outer, ir.AtLeast, 0.5, func() { tr.Launch(square, one, z, z, 1) }, func() { tr.Copy(z, y) })
	})
	trace, err := tr.Finish()
	require.NoError(t, err)
	for _, form := range graphexec.Backends() {
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Streams: form == graphexec.Streams, Verify: true})
		require.NoError(t, err)
		exec, err := graphexec.Instantiate(d, plan.Schedule, trace, form)
		require.NoError(t, err)
		last := float32(2) // the last branch copies y
		for _, change := range []graphexec.Change{graphexec.Enable("%0/%3", true), graphexec.Swap("x", "z"), graphexec.Enable("%0/%3/else/%0", false)} {
			require.NoError(t, exec.Apply(change))
			if change.String() == "disable %0/%3/else/%0" {
				last = 81 // 3 to the 4th after two squares
			}
			for b, v := range map[tracer.Buffer]float32{x: 0, y: 2, z: 3, outer: 0.9} {
				require.NoError(t, tracer.Write(b, []float32{v}))
			}
			require.NoError(t, exec.Replay(context.Background()))
			require.NoError(t, exec.Wait(context.Background()))
			for b, want := range map[tracer.Buffer]float32{x: 65536, z: last} { // 2 to the 16th after four squares
				got := []float32{0}
				require.NoError(t, tracer.Read(got, b))
				assert.Equal(t, want, got[0], "%v, %v, @%s", form, change, b.Declaration().Name)
			}
		}
		require.NoError(t, exec.Close())
	}
	require.NoError(t, trace.Close())
}
