package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// signed is n values from -100 to 99.
func signed(n int, seed uint64) []int32 {
	v := ints(n, 200, seed)
	for i := range v {
		v[i] -= 100
	}
	return v
}

func total(v []int32) (sum int32) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func TestTilesOfABlock(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		const n = 192
		x := signed(n, 1)
		for _, size := range []int{4, 16} {
			kernel := fmt.Sprintf("tile_sums_%d", size)
			var want []int32
			for tile := range slices.Chunk(x, size) {
				want = append(want, total(tile))
			}
			out := zeros[int32](g, n/size)
			g.launch(kernel, line(2, n/2), up(g, x), out)
			require.Equal(t, want, out.down(), kernel)
		}
		var sums, largest, prefixes []int32
		for tile := range slices.Chunk(x, 8) {
			sums, largest = append(sums, total(tile)), append(largest, slices.Max(tile))
			for i := range tile {
				prefixes = append(prefixes, total(tile[:i+1]))
			}
		}
		s, l, p := zeros[int32](g, n/8), zeros[int32](g, n/8), zeros[int32](g, n)
		g.launch("tile_reduce", line(2, n/2), up(g, x), s, l, p)
		require.Equal(t, sums, s.down())
		require.Equal(t, largest, l.down())
		require.Equal(t, prefixes, p.down())
	})
}

func TestWarpAggregatedAtomics(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		for _, n := range []int{0, 1, 33, 700} {
			x := signed(n, 2)
			want := slices.DeleteFunc(slices.Clone(x), func(v int32) bool { return v <= 0 })
			out, counter := zeros[int32](g, n), zeros[int32](g, 1)
			g.launch("compact", line(cover(n, 96), 96), up(g, x), out, counter, int32(n))
			require.EqualValues(t, len(want), counter.down()[0])
			require.ElementsMatch(t, want, out.down()[:len(want)])

			keys, counts := words(n, 9, 3), zeros[uint32](g, 9)
			g.launch("count_keys", line(cover(n, 96), 96), up(g, keys), counts, int32(n))
			wantCounts := make([]uint32, 9)
			for _, k := range keys {
				wantCounts[k]++
			}
			require.Equal(t, wantCounts, counts.down(), "%d keys", n)
		}
	})
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func TestVotes(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		x := signed(96, 4)
		x[40] = 77
		for i := range x[64:] { // a warp without negative values
			x[64+i] = max(x[64+i], -x[64+i], 1)
		}
		x = slices.DeleteFunc(x, func(v int32) bool { return v == 13 })
		for len(x) < 96 {
			x = append(x, 95)
		}
		negative := func(v int32) bool { return v < 0 }
		below := slices.DeleteFunc(slices.Clone(x), func(v int32) bool { return !negative(v) })
		var want []uint32
		for warp := range slices.Chunk(x, 32) {
			var positive uint32
			for lane, v := range warp {
				positive |= flag(v > 0) << lane
			}
			all := !slices.ContainsFunc(warp, func(v int32) bool { return v <= -50 })
			same := !slices.ContainsFunc(warp, func(v int32) bool { return negative(v) != negative(warp[0]) })
			want = append(want, flag(all), flag(slices.Max(warp) > 90), positive, -flag(same), flag(same), flag(slices.Contains(x, 77)), 1, uint32(len(below)))
		}
		out := zeros[uint32](g, 24)
		g.launch("votes", line(1, 96), up(g, x), out)
		require.Equal(t, want, out.down())
	})
}

func TestHalvesOfAWarp(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		x := signed(128, 5)
		var want []int32
		for half := range slices.Chunk(x, 16) {
			v := total(half)
			if len(want)%32 == 16 {
				v = slices.Max(half)
			}
			want = append(want, slices.Repeat([]int32{v}, 16)...)
		}
		out := zeros[int32](g, 128)
		g.launch("split_warp", line(2, 64), up(g, x), out)
		require.Equal(t, want, out.down())
	})
}

func TestNamedBarriers(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		const rounds = 5
		x := signed(32*rounds, 6)
		var want []int32
		for round := range slices.Chunk(x, 32) {
			for i := range round {
				want = append(want, 2*round[31-i]+1)
			}
		}
		out := zeros[int32](g, 32*rounds)
		g.launch("named_barriers", line(1, 64), up(g, x), out, int32(rounds))
		require.Equal(t, want, out.down())
	})
}

// Every block waits for every other, twice the number of steps.
func TestGridGroup(t *testing.T) {
	onEachBuild(t, "groups", func(t *testing.T, g *gpu) {
		const n, steps = 500, 5
		x := ints(n, 100, 7)
		cells, next := up(g, x), zeros[int32](g, n)
		g.launch("grid_steps", line(4, 64).together(), cells, next, int32(n), int32(steps))
		for range steps {
			y := make([]int32, n)
			for i := range y {
				y[i] = x[i] + x[(i+1)%n]
			}
			x = y
		}
		require.Equal(t, x, next.down())
	})
}
