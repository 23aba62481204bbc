package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// width is the size of a largest antichain: by Dilworth, the nodes less a
// maximum matching on the closure.
func width(n int, edges []edge) int {
	reach := closure(n, edges)
	var all []edge
	for u := range n {
		for v := range n {
			if reach[u][v] {
				all = append(all, edge{int32(u), int32(v)})
			}
		}
	}
	return n - bruteMatching(newDAG(n, all))
}

// From single nodes the merge is Dilworth's chain partition itself, so its
// optimum is known.
func TestMergeOfSingleNodesGivesTheWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + r.IntN(60)
		edges := randomEdges(r, n, r.IntN(3*n), n)
		d := newDAG(n, edges)
		require.Len(t, mergeChains(d, singles(n), maxMergedChains), width(n, edges))
	}
}

func singles(n int) []chain {
	chains := make([]chain, n)
	for v := range chains {
		chains[v] = chain{int32(v)}
	}
	return chains
}

// Above the limit of one step the result may have more chains than needed, but
// it is still a partition into chains, and steps go on while they help.
func TestMergeInGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const n = 400
	edges := randomEdges(r, n, 3*n, 40)
	reach := closure(n, edges)
	best := width(n, edges)
	for _, limit := range []int{1, 7, 50, n} {
		chains := mergeChains(newDAG(n, edges), singles(n), limit)
		seen := make([]bool, n)
		for _, c := range chains {
			for i, v := range c {
				require.False(t, seen[v])
				seen[v] = true
				require.True(t, i == 0 || reach[c[i-1]][v])
			}
		}
		require.NotContains(t, seen, false)
		assert.GreaterOrEqual(t, len(chains), best)
		t.Logf("limit %d: %d chains, width %d", limit, len(chains), best)
	}
}
