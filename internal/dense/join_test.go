package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// heaviestMatching is the greatest total weight of a matching, by successive
// heaviest augmenting paths found with Bellman and Ford's rounds.
func heaviestMatching(weight [][]int) int {
	n := len(weight)
	right, left := slices.Repeat([]int32{-1}, n), slices.Repeat([]int32{-1}, n)
	for total := 0; ; {
		best, via := make([]int, n), slices.Repeat([]int32{-1}, n) // by right node: gain of the best path there, and its last left node
		for v := range best {
			best[v] = -1 << 30
		}
		for changed := true; changed; {
			changed = false
			for u := range n {
				gain := 0
				if right[u] >= 0 {
					gain = best[right[u]] - weight[u][right[u]]
				}
				for v, w := range weight[u] {
					if w > 0 && int32(v) != right[u] && gain > -1<<29 && gain+w > best[v] {
						best[v], via[v] = gain+w, int32(u)
						changed = true
					}
				}
			}
		}
		end := -1
		for v := range n {
			if left[v] < 0 && best[v] > 0 && (end < 0 || best[v] > best[end]) {
				end = v
			}
		}
		if end < 0 {
			return total
		}
		total += best[end]
		for v := int32(end); v >= 0; {
			u := via[v]
			freed := right[u]
			right[u], left[v] = v, u
			v = freed
		}
	}
}

// The oracle weighs an edge more than all other pairs together: its optimum has
// as many edges as can be, and then as many pairs.
func TestJoinGivesTheFewestLanesAtTheFewestWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	merged := 0
	for round := range 400 {
		n := 1 + r.IntN(24)
		edges := densetest.Reduction(n, densetest.RandomEdges(r, n, r.IntN(3*n), 1+r.IntN(n)))
		d := NewGraph(n, edges)
		reach := densetest.Closure(n, edges)
		weight := make([][]int, n)
		for u := range weight {
			weight[u] = make([]int, n)
			for v := range n {
				if reach[u][v] {
					weight[u][v] = 1
				}
			}
		}
		for _, e := range edges {
			weight[e.From][e.To] = n + 1
		}
		want := heaviestMatching(weight)

		m := MaximumMatching(d.Rows)
		merged += len(mergeChains(d, m.Chains(), MaxMergedChains))
		require.True(t, m.joinChains(d, MaxJoinBits))
		got, lanes := 0, 0
		for u, v := range m.Right {
			if v >= 0 {
				require.Positive(t, weight[u][v])
				got += weight[u][v]
			}
		}
		lanes = len(m.Chains())
		merged -= lanes
		require.Equal(t, want, got, "round %d, %d lanes: %v", round, lanes, edges)
	}
	require.Positive(t, merged, "merging the chains of a fixed matching was never worse: the test has no hard case")
}

func TestJoinKeepsToItsLimit(t *testing.T) {
	d := NewGraph(4, []Edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
	m := MaximumMatching(d.Rows)
	require.False(t, m.joinChains(d, 0))
	require.Equal(t, MaximumMatching(d.Rows), m)
}
