package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

func profileOf(t *testing.T, w *Workload, p Params, o sim.Options) []KernelProfile {
	t.Helper()
	dev, err := sim.New(o)
	require.NoError(t, err)
	defer dev.Close()
	rows, err := Profile(context.Background(), dev, w, p)
	require.NoError(t, err)
	return rows
}

// TestProfileOfVec compares the counts of vec with those derived by hand. Each square multiplies once per
// element. reduce subtracts and adds once per element, and then every lane adds in each of the 5
// steps of its warp's tree.
func TestProfileOfVec(t *testing.T) {
	const n, blocks = 1 << 16, 8 * 132
	rows := profileOf(t, vec, Params{Size: n, Seed: 1}, sim.Options{})
	require.Len(t, rows, 2)
	square, reduce := rows[0], rows[1]
	for _, r := range rows {
		assert.Equal(t, [3]uint32{blocks, 1, 1}, r.Grid)
		assert.Equal(t, [3]uint32{32, 1, 1}, r.Block)
		assert.Equal(t, 32, r.BlocksPerSM)
		assert.InDelta(t, float64(blocks)/(132*64), r.Occupancy, 1e-12)
		assert.Equal(t, "grid", r.HeldBy)
		assert.GreaterOrEqual(t, 32*r.WarpInsts, r.LaneInsts)
		assert.Positive(t, r.TimePS)
		assert.Equal(t, []string{"i32=65536"}, r.Numbers)
	}
	assert.Equal(t, "square", square.Kernel)
	assert.Equal(t, 2, square.Launches)
	assert.InDelta(t, n, square.Flops, 0)
	assert.InDelta(t, 8*n, square.L2Bytes, 0)
	assert.Equal(t, "reduce", reduce.Kernel)
	assert.Equal(t, 1, reduce.Launches)
	assert.InDelta(t, 2*n+5*32*blocks, reduce.Flops, 0)
}

// TestProfileOfEveryWorkload expects each launch of a workload in exactly one row, and no two rows of the same kernel
// and shape.
func TestProfileOfEveryWorkload(t *testing.T) {
	for _, w := range Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			rows := profileOf(t, w, Params{Size: w.Tiny, Seed: 1}, sim.Options{})
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			defer dev.Close()
			in, err := w.New(dev, Params{Size: w.Tiny, Seed: 1})
			require.NoError(t, err)
			launches := 0
			for _, op := range in.Trace.Graph.Ops {
				if op.Launch != nil {
					launches++
				}
			}
			for i, r := range rows {
				launches -= r.Launches
				for _, o := range rows[:i] {
					assert.False(t, o.Kernel == r.Kernel && o.Grid == r.Grid && o.Block == r.Block && o.Shared == r.Shared && assert.ObjectsAreEqual(o.Numbers, r.Numbers), "%s twice", r.Kernel)
				}
				assert.LessOrEqual(t, r.Occupancy, 1.)
				assert.Positive(t, r.Occupancy)
				assert.NotEmpty(t, r.Limit)
			}
			assert.Zero(t, launches, "launches in no row")
		})
	}
}

func TestProfileSampled(t *testing.T) {
	whole := profileOf(t, vec, Params{Size: 1 << 16, Seed: 1}, sim.Options{})
	some := profileOf(t, vec, Params{Size: 1 << 16, Sampled: true}, sim.Options{Sample: 66})
	require.Len(t, some, len(whole))
	for i := range whole {
		assert.EqualValues(t, 66, some[i].Sample)
		assert.InEpsilon(t, whole[i].Flops, some[i].Flops, 0.05)
		assert.InEpsilon(t, whole[i].L2Bytes, some[i].L2Bytes, 0.05)
	}
}

// TestProfileOfLoops expects the launches of each iteration, and none of the kernels that evaluate the condition.
func TestProfileOfLoops(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	r := tracer.New(dev, "loop", tracer.Deferred)
	source, ok := kernels.Lookup("square")
	require.True(t, ok)
	square := r.Module(source.File, source.PTX).Kernel(source.Name)
	x, y := r.Alloc("x", ir.F32, 64, ir.Input), r.Alloc("y", ir.F32, 64, ir.Output)
	ended := r.Alloc("ended", ir.F32, 1, ir.Output)
	r.Launch(square, tracer.Linear(2, 32), x, y, 64)
	r.Loop(ended, ir.AtLeast, 1, tracer.Limits{Iterations: 3}, func() {
		r.Launch(square, tracer.Linear(1, 32), x, y, 32)
		r.Memset(ended, 0)
	})
	trace, err := r.Finish()
	require.NoError(t, err)
	defer trace.Close()

	rows := profileOf(t, OfFile("loop.rir", &ir.File{Graph: trace.Graph}), Params{}, sim.Options{})
	require.Len(t, rows, 2)
	assert.Equal(t, 1, rows[0].Launches)
	assert.Equal(t, []string{"i32=64"}, rows[0].Numbers)
	assert.Equal(t, 3, rows[1].Launches)
	assert.Equal(t, []string{"i32=32"}, rows[1].Numbers)
}
