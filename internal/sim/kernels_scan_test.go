package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func prefixSums(x []uint32) []uint32 {
	out := make([]uint32, len(x))
	sum := uint32(0)
	for i, v := range x {
		sum += v
		out[i] = sum
	}
	return out
}

func TestScanOverBlocks(t *testing.T) {
	onEachBuild(t, "scan", func(t *testing.T, g *gpu) {
		for _, n := range append(lengths, 40_000) {
			for _, threads := range []int{32, 128, 1024} {
				x := words(n, 0, 1)
				blocks := cover(n, threads)
				out, totals := zeros[uint32](g, n), zeros[uint32](g, blocks)
				g.launch("scan_blocks_u32", line(blocks, threads), up(g, x), out, totals, int32(n))
				g.launch("scan_totals_u32", line(1, 256), totals, int32(blocks))
				if blocks > 1 {
					g.launch("add_totals_u32", line(blocks-1, threads), out, totals, int32(n))
				}
				require.Equal(t, prefixSums(x), out.down(), "%d elements, %d threads", n, threads)
			}
		}
	})
}

func TestScanWithinBlocksOfDoubles(t *testing.T) {
	g := load(t, "scan")
	const n, threads = 1000, 192
	x := random[float64](n, 2)
	out, totals := zeros[float64](g, n), zeros[float64](g, cover(n, threads))
	g.launch("scan_blocks_f64", line(cover(n, threads), threads), up(g, x), out, totals, int32(n))
	want, sums := make([]float64, n), make([]float64, cover(n, threads))
	for i := range x {
		sums[i/threads] += x[i]
		want[i] = sums[i/threads]
	}
	within(t, want, out.down(), always(0x1p-52*threads), "scan")
	within(t, sums, totals.down(), always(0x1p-52*threads), "totals")
}

func TestWorkEfficientScan(t *testing.T) {
	g := load(t, "scan")
	for _, n := range []int{2, 64, 512, 2048} {
		x := make([]int32, n)
		for i, w := range words(n, 1000, 3) {
			x[i] = int32(w) - 500
		}
		out := zeros[int32](g, n)
		s := line(1, n/2)
		s.shared = uint32(4 * (n + n/32))
		g.launch("scan_blelloch", s, up(g, x), out, int32(n))
		want, sum := make([]int32, n), int32(0)
		for i, v := range x {
			want[i], sum = sum, sum+v
		}
		require.Equal(t, want, out.down(), "%d elements", n)
	}
}

// Blocks that read what earlier blocks publish while they run.
func TestScanWithLookback(t *testing.T) {
	g := load(t, "scan")
	for _, n := range lengths {
		x := words(n, 0, 4)
		blocks := cover(n, 64)
		out := zeros[uint32](g, n)
		g.launch("scan_lookback", line(blocks, 64), up(g, x), out, zeros[uint64](g, blocks), zeros[uint32](g, 1), int32(n))
		require.Equal(t, prefixSums(x), out.down(), "%d elements", n)
	}
}
