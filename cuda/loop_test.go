//go:build cuda

package cuda

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestLoops squares numbers until the greatest is small, in every lowering, twice each.
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
