package sim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// lengths are the sizes that one-dimensional kernels are tried at: none, one, around
// a warp and a block, and several blocks with a rest.
var lengths = []int{0, 1, 31, 32, 33, 127, 128, 129, 1000, 5000}

func sum[T float32 | float64](v []T) (sum, magnitude float64) {
	for _, x := range v {
		sum += float64(x)
		magnitude += math.Abs(float64(x))
	}
	return sum, magnitude
}

func TestBlockReductions(t *testing.T) {
	onEachBuild(t, "reduce", func(t *testing.T, g *gpu) {
		for _, n := range lengths {
			blocks := max(1, min(5, n/200))
			singles, doubles := random[float32](n, 1), random[float64](n, 2)

			p32 := zeros[float32](g, blocks)
			g.launch("sum_blocks_f32", line(blocks, 128), up(g, singles), p32, int32(n))
			got, _ := sum(p32.down())
			want, magnitude := sum(singles)
			require.InDelta(t, want, got, 0x1p-24*32*magnitude, "sum of %d floats", n)

			p64 := zeros[float64](g, blocks)
			g.launch("sum_blocks_f64", line(blocks, 96), up(g, doubles), p64, int32(n))
			got, _ = sum(p64.down())
			want, magnitude = sum(doubles)
			require.InDelta(t, want, got, 0x1p-52*32*magnitude, "sum of %d doubles", n)

			ints := make([]int32, n)
			for i, w := range words(n, 0, 3) {
				ints[i] = int32(w)
			}
			pi := zeros[int32](g, blocks)
			g.launch("max_blocks_i32", line(blocks, 64), up(g, ints), pi, int32(n))
			require.Equal(t, slices.Max(append(ints, math.MinInt32)), slices.Max(pi.down()), "largest of %d", n)

			pf := zeros[float32](g, blocks)
			g.launch("max_blocks_f32", line(blocks, 1024), up(g, singles), pf, int32(n))
			require.Equal(t, slices.Max(append(slices.Clone(singles), -math.MaxFloat32)), slices.Max(pf.down()), "largest of %d", n)
		}
	})
}

func TestTreeReduction(t *testing.T) {
	onEachBuild(t, "reduce", func(t *testing.T, g *gpu) {
		for _, n := range lengths {
			for _, threads := range []int{1, 16, 256} {
				x, total := words(n, 0, 4), zeros[uint64](g, 1)
				s := line(cover(n, 2*threads), threads)
				s.shared = uint32(8 * threads)
				g.launch("sum_tree", s, up(g, x), total, int32(n))
				want := uint64(0)
				for _, v := range x {
					want += uint64(v)
				}
				require.Equal(t, want, total.down()[0], "%d elements, %d threads", n, threads)
			}
		}
	})
}

// The counter in module memory wraps to 0 for the next launch.
func TestReductionByTheLastBlock(t *testing.T) {
	onEachBuild(t, "reduce", func(t *testing.T, g *gpu) {
		for _, n := range lengths {
			blocks := cover(n, 300)
			x, total := random[float32](n, 5), zeros[float32](g, 1)
			g.launch("sum_last_block", line(blocks, 128), up(g, x), zeros[float32](g, blocks), total, int32(n))
			want, magnitude := sum(x)
			require.InDelta(t, want, total.down()[0], 0x1p-24*32*magnitude, "%d elements", n)
		}
	})
}

func TestArgmax(t *testing.T) {
	onEachBuild(t, "reduce", func(t *testing.T, g *gpu) {
		const rows = 7
		for _, n := range []int{1, 5, 32, 33, 200} {
			x := make([]float32, rows*n)
			for i, w := range words(len(x), 20, 6) { // few values, so that many are equal
				x[i] = float32(w)
			}
			at := zeros[int32](g, rows)
			g.launch("argmax", line(rows, 32), up(g, x), at, int32(n))
			for r, got := range at.down() {
				row := x[r*n : (r+1)*n]
				require.EqualValues(t, slices.Index(row, slices.Max(row)), got, "row %d of %d", r, n)
			}
		}
	})
}

func TestWarpRedux(t *testing.T) {
	for _, build := range []string{"reduce.sm80", "reduce.sm90"} {
		g := load(t, build)
		x := words(64, 0, 7)
		x[40] &= 0xfff0
		out := zeros[uint32](g, 12)
		g.launch("warp_redux", line(1, 64), up(g, x), out)
		var want []uint32
		for _, warp := range [][]uint32{x[:32], x[32:]} {
			var sum, or, xor uint32
			and := ^uint32(0)
			for _, v := range warp {
				sum, and, or, xor = sum+v, and&v, or|v, xor^v
			}
			want = append(want, sum, slices.Min(warp), slices.Max(warp), and, or, xor)
		}
		require.Equal(t, want, out.down(), build)
	}
}
