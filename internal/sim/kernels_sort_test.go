package sim_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBitonicSort(t *testing.T) {
	g := load(t, "sort")
	const tile = 512
	for _, n := range []int{tile, 2 * tile, 16 * tile} {
		keys := words(n, uint32(n), 1) // with repetitions
		d := up(g, keys)
		g.launch("bitonic_tiles", line(n/tile, tile/2), d)
		for size := 2 * tile; size <= n; size *= 2 {
			for stride := size / 2; stride >= tile; stride /= 2 {
				g.launch("bitonic_step", line(n/tile, tile/2), d, uint32(size), uint32(stride))
			}
			g.launch("bitonic_merge", line(n/tile, tile/2), d, uint32(size))
		}
		require.Equal(t, slices.Sorted(slices.Values(keys)), d.down(), "%d keys", n)
	}
}

func TestBitonicSortInRegisters(t *testing.T) {
	g := load(t, "sort")
	keys := random[float32](256, 2)
	d := up(g, keys)
	g.launch("bitonic_warp", line(2, 128), d)
	for warp := range slices.Chunk(keys, 32) {
		slices.Sort(warp)
	}
	require.Equal(t, keys, d.down())
}

func TestRadixSort(t *testing.T) {
	g := load(t, "sort")
	for _, n := range []int{1, 33, 256, 1000, 3000} {
		type pair struct{ key, value uint32 }
		pairs := make([]pair, n)
		values := make([]uint32, n)
		keys := words(n, 300, 3) // equal keys must keep their order
		for i := range pairs {
			keys[i] *= 0x00a5_0001
			values[i] = uint32(i)
			pairs[i] = pair{keys[i], uint32(i)}
		}
		from, with := up(g, keys), up(g, values)
		to, taking := zeros[uint32](g, n), zeros[uint32](g, n)
		blocks := cover(n, 256)
		counts := zeros[uint32](g, 16*blocks)
		for shift := int32(0); shift < 32; shift += 4 {
			g.launch("radix_count", line(blocks, 256), from, counts, int32(n), shift)
			g.launch("radix_offsets", line(1, 32), counts, int32(16*blocks))
			g.launch("radix_scatter", line(blocks, 256), from, with, to, taking, counts, int32(n), shift)
			from, with, to, taking = to, taking, from, with
		}
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
		got := make([]pair, n)
		k, v := from.down(), with.down()
		for i := range got {
			got[i] = pair{k[i], v[i]}
		}
		require.Equal(t, pairs, got, "%d keys", n)
	}
}
