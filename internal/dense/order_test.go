package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of all orders the result is the first in lexicographic order of keys: at each place stands the least
// node, by key and number, whose predecessors all stand before it.
func TestOrderTakesTheLeastReadyNode(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 61))
	cyclic := 0
	for range 2000 {
		n := 1 + r.IntN(12)
		succs, key := make([][]int32, n), make([]int, n)
		for v := range n {
			key[v] = r.IntN(4)
			for range r.IntN(3) {
				succs[v] = append(succs[v], int32(r.IntN(n))) // loops and repeated edges too
			}
		}
		got := Order(func(v int32) []int32 { return succs[v] }, key)
		var want []int32
		for {
			next := int32(-1)
			for v := range int32(n) {
				if slices.Contains(want, v) || waits(succs, want, v) {
					continue
				}
				if next < 0 || key[v] < key[next] {
					next = v
				}
			}
			if next < 0 {
				break
			}
			want = append(want, next)
		}
		require.Equal(t, want, slices.Clip(append([]int32(nil), got...)))
		if len(got) < n {
			cyclic++
		}
	}
	require.Positive(t, cyclic)
	require.Less(t, cyclic, 2000)
}

// waits reports whether v has a predecessor that has not come.
func waits(succs [][]int32, come []int32, v int32) bool {
	for u := range succs {
		if slices.Contains(succs[u], v) && !slices.Contains(come, int32(u)) {
			return true
		}
	}
	return false
}
