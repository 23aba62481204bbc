package sim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// empty is n slots that hold no key.
func empty[T uint32 | uint64](n int) []T {
	return slices.Repeat([]T{^T(0)}, n)
}

func TestHashTable(t *testing.T) {
	g := load(t, "hashtable")
	for _, n := range []int{0, 1, 100, 3000} {
		const slots = 1024
		keys := words(n, 700, 1) // up to 700 different keys in 1024 slots
		counts := map[uint32]uint32{}
		for _, k := range keys {
			counts[k]++
		}
		queries := append(words(50, 1500, 2), keys...)
		var want []uint32
		for _, q := range queries {
			want = append(want, counts[q])
		}
		table, tally, failed := up(g, empty[uint32](slots)), zeros[uint32](g, slots), zeros[uint32](g, 1)
		g.launch("insert", line(cover(n, 128), 128), up(g, keys), table, tally, failed, uint32(slots-1), int32(n))
		found := zeros[uint32](g, len(queries))
		g.launch("lookup", line(2, 64), up(g, queries), table, tally, found, uint32(slots-1), int32(len(queries)))
		require.Equal(t, want, found.down(), "%d keys", n)
		require.Zero(t, failed.down()[0])
	}
}

func TestFullHashTable(t *testing.T) {
	g := load(t, "hashtable")
	const n, slots = 100, 64
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i)
	}
	table, tally, failed := up(g, empty[uint32](slots)), zeros[uint32](g, slots), zeros[uint32](g, 1)
	g.launch("insert", line(1, n), up(g, keys), table, tally, failed, uint32(slots-1), int32(n))
	require.EqualValues(t, n-slots, failed.down()[0])
	require.NotContains(t, table.down(), uint32(math.MaxUint32))
}

func TestHashTableOfPairs(t *testing.T) {
	g := load(t, "hashtable")
	const n, slots = 1500, 512
	pairs := words(2*n, 0, 3)
	want := map[uint32]uint32{}
	for i := range n {
		pairs[2*i] %= 400
		k := pairs[2*i]
		want[k] = max(want[k], pairs[2*i+1])
	}
	table := up(g, empty[uint64](slots))
	g.launch("insert_pairs", line(cover(n, 192), 192), up(g, pairs), table, uint32(slots-1), int32(n))
	got := map[uint32]uint32{}
	for _, s := range table.down() {
		if s != math.MaxUint64 {
			require.NotContains(t, got, uint32(s>>32), "a key must have one slot")
			got[uint32(s>>32)] = uint32(s)
		}
	}
	require.Equal(t, want, got)
}
