package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// heaviestMatching is the greatest total weight of a matching, by successive
// heaviest augmenting paths found with Bellman and Ford's rounds.
func heaviestMatching(weight [][]int) int {
	n := len(weight)
	right, left := filled(n, -1), filled(n, -1)
	for total := 0; ; {
		best, via := make([]int, n), filled(n, -1) // by right node: gain of the best path there, and its last left node
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
		edges := bruteReduction(n, randomEdges(r, n, r.IntN(3*n), 1+r.IntN(n)))
		d := newDAG(n, edges)
		reach := closure(n, edges)
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
			weight[e.from][e.to] = n + 1
		}
		want := heaviestMatching(weight)

		m := maximumMatching(bipartite{dag: d})
		merged += len(mergeChains(d, chainsOf(m), maxMergedChains))
		require.True(t, joinChains(d, m, maxJoinBits))
		got, lanes := 0, 0
		for u, v := range m.right {
			if v >= 0 {
				require.Positive(t, weight[u][v])
				got += weight[u][v]
			}
		}
		lanes = len(chainsOf(m))
		merged -= lanes
		require.Equal(t, want, got, "round %d, %d lanes: %v", round, lanes, edges)
	}
	require.Positive(t, merged, "merging the chains of a fixed matching was never worse: the test has no hard case")
}

func TestJoinKeepsToItsLimit(t *testing.T) {
	d := newDAG(4, []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
	m := maximumMatching(bipartite{dag: d})
	require.False(t, joinChains(d, m, 0))
	require.Equal(t, maximumMatching(bipartite{dag: d}), m)
}
