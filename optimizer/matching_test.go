package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// bruteMatching is the size of a maximum matching, by trying to augment from
// every node with plain depth-first search (Kuhn).
func bruteMatching(d *dag) int {
	left := filled(d.len(), -1)
	var tried []bool
	var augment func(u int32) bool
	augment = func(u int32) bool {
		for _, v := range d.succs(u) {
			if !tried[v] {
				tried[v] = true
				if left[v] < 0 || augment(left[v]) {
					left[v] = u
					return true
				}
			}
		}
		return false
	}
	size := 0
	for u := range int32(d.len()) {
		tried = make([]bool, d.len())
		if augment(u) {
			size++
		}
	}
	return size
}

func TestMatchingIsMaximum(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 500 {
		n := 1 + r.IntN(80)
		d := newDAG(n, randomEdges(r, n, r.IntN(3*n), n))
		m := maximumMatching(bipartite{dag: d})
		require.Equal(t, bruteMatching(d), m.size)
		pairs := 0
		for u, v := range m.right {
			if v >= 0 {
				require.Equal(t, int32(u), m.left[v])
				require.Contains(t, d.succs(int32(u)), v)
				pairs++
			}
		}
		require.Equal(t, m.size, pairs)
	}
}
