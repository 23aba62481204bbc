package sim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	cubThreads = 128
	cubItems   = 4 * cubThreads
)

func TestCUBReductions(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		x := signedWords(cubItems, 1)
		sum, part := int32(0), int32(0)
		for i, v := range x {
			sum += v
			if i%4 == 0 && i < 4*77 {
				part += v
			}
		}
		for _, kernel := range []string{"reduce_commutative", "reduce_raking", "reduce_warps"} {
			out := zeros[int32](g, 3)
			g.launch(kernel, line(1, cubThreads), up(g, x), out)
			require.Equal(t, []int32{sum, slices.Max(x), part}, out.down(), kernel)
		}
	})
}

func TestCUBScans(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		x := signedWords(cubItems, 2)
		sums, maxima := make([]int32, cubItems), make([]int32, cubItems)
		for i, v := range x {
			maxima[i] = slices.Max(x[:i+1])
			if i+1 < cubItems {
				sums[i+1] = sums[i] + v
			}
		}
		for _, kernel := range []string{"scan_raking", "scan_warps"} {
			s, m := zeros[int32](g, cubItems), zeros[int32](g, cubItems)
			g.launch(kernel, line(1, cubThreads), up(g, x), s, m)
			require.Equal(t, sums, s.down(), kernel)
			require.Equal(t, maxima, m.down(), kernel)
		}
	})
}

func TestCUBSegmentedSums(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		heads, x := words(cubThreads, 5, 3), words(cubThreads, 100, 4)
		begins, in, want := make([]int32, cubThreads), make([]float32, cubThreads), make([]float32, cubThreads)
		for i := range in {
			in[i], want[i] = float32(x[i]), float32(x[i])
			if heads[i] == 0 {
				begins[i] = 1
			} else if i > 0 {
				want[i] += want[i-1]
			}
		}
		out := zeros[float32](g, cubThreads)
		g.launch("segmented_sums", line(1, cubThreads), up(g, begins), up(g, in), out)
		require.Equal(t, want, out.down())
	})
}

func TestCUBSorts(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		x := make([]float32, cubItems) // many are equal, so that the order of the indices counts
		for i, v := range signedWords(cubItems, 5) {
			x[i] = float32(v % 50)
		}
		indices := make([]int32, cubItems)
		for i := range indices {
			indices[i] = int32(i)
		}
		slices.SortStableFunc(indices, func(i, j int32) int { return int(x[i] - x[j]) })
		keys, order := zeros[float32](g, cubItems), zeros[int32](g, cubItems)
		g.launch("radix_sort", line(1, cubThreads), up(g, x), keys, order)
		slices.Sort(x)
		require.Equal(t, x, keys.down())
		require.Equal(t, indices, order.down())
	})
}

func TestCUBHistogram(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		x, want := make([]uint8, cubItems), make([]uint32, 256)
		for i, v := range words(cubItems, 40, 7) {
			x[i] = uint8(v)
			want[v]++
		}
		out := zeros[uint32](g, 256)
		g.launch("histogram", line(1, cubThreads), up(g, x), out)
		require.Equal(t, want, out.down())
	})
}

func TestCUBWarpReduction(t *testing.T) {
	onEachBuild(t, "cub", func(t *testing.T, g *gpu) {
		x, want := random[float64](cubThreads, 8), []float64(nil)
		for eight := range slices.Chunk(x, 8) {
			want = append(want, slices.Min(eight))
		}
		out := zeros[float64](g, cubThreads/8)
		g.launch("least_of_eight", line(1, cubThreads), up(g, x), out)
		require.Equal(t, want, out.down())
	})
}

// signedWords is n integers in -1000..999.
func signedWords(n int, seed uint64) []int32 {
	v := make([]int32, n)
	for i, w := range words(n, 2000, seed) {
		v[i] = int32(w) - 1000
	}
	return v
}
