package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Every figure of y[i] = a*x[i] + y[i] with a thread for each i follows from the
// source: 2 operations, 8 bytes read and 4 written, by blocks of 256 on 132
// multiprocessors with room for 64 warps each.
func TestTimelineDescribesLaunches(t *testing.T) {
	for _, c := range []struct {
		blocks, shared int
		perSM          int
		held           string
		warps          float64
	}{
		{4096, 0, 8, "threads", 1},
		{4096, 100 << 10, 2, "shared memory", 16. / 64},
		{16, 0, 8, "grid", 16 * 8. / (132 * 64)},
	} {
		g := load(t, "map")
		n := 256 * c.blocks
		x, y := up(g, random[float32](n, 1)), up(g, random[float32](n, 2))
		displaceCaches(g)
		s := line(c.blocks, 256)
		s.shared = uint32(c.shared)
		g.StartTimeline()
		g.launch("saxpy", s, float32(-1.5), x, y, int32(n))
		require.NoError(t, g.Synchronize(g.stream))
		_, _, work := g.Timeline()
		require.Len(t, work, 1)
		require.NotNil(t, work[0].Launched)

		got := *work[0].Launched
		assert.Greater(t, got.WarpInsts, int64(n/32))
		assert.Equal(t, 32*got.WarpInsts, got.LaneInsts)
		assert.Positive(t, got.Registers)
		assert.InDelta(t, c.warps, got.Warps, 1e-12)
		bytes, d := float64(4*n), got.Demand
		assert.Equal(t, []float64{float64(c.blocks), float64(c.perSM), 4 * bytes, 3 * bytes}, []float64{d.Blocks, d.PerSM, d.Bytes, d.L2Bytes}, "%d blocks", c.blocks)
		got.WarpInsts, got.LaneInsts, got.Registers, got.Warps, got.Demand = 0, 0, 0, 0, sim.Launched{}.Demand
		assert.Equal(t, sim.Launched{
			Kernel: "saxpy", Grid: [3]uint32{uint32(c.blocks), 1, 1}, Block: [3]uint32{256, 1, 1}, Shared: c.shared, PerSM: c.perSM, HeldBy: c.held, BlockWarps: 8,
			Flops: int64(2 * n), L2Bytes: 3 * bytes, DRAMBytes: 2*bytes + 2*bytes,
		}, got, "%d blocks", c.blocks)

		use := g.Usage()
		require.NotEmpty(t, use)
		most, moved := 0.0, 0.0
		for i, u := range use {
			most = max(most, u.Warps)
			if i > 0 {
				require.Greater(t, u.At, use[i-1].At)
				moved += use[i-1].DRAM * float64(u.At-use[i-1].At) / 1e12
			}
			if c.held == "grid" {
				assert.LessOrEqual(t, u.Multiprocessors, float64(c.blocks)/132)
			}
		}
		assert.InDelta(t, c.warps, most, 1e-12, "resident warps")
		assert.InEpsilon(t, d.Bytes, moved, 1e-3, "the bandwidth adds up to the bytes")
		assert.Zero(t, use[len(use)-1].Warps, "the device is idle at the end")
	}
}

// displaceCaches leaves other bytes in L2 than those of the arrays so far. They are not
// in memory yet: what a launch reads after it displaces as many, which go there.
func displaceCaches(g *gpu) {
	const most = 128 << 20
	p, err := g.Alloc(most)
	require.NoError(g.t, err)
	require.NoError(g.t, g.Submit(g.stream, &device.Memset{Dst: p, Count: most / 4, Width: 4}))
	require.NoError(g.t, g.Synchronize(g.stream))
}
