package optimizer

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// largestAntichain is the most operations that may run at the same time, from all sets
// of them.
func largestAntichain(n int, edges []edge) int {
	reach := closure(n, edges)
	ordered := make([]uint, n)
	for u := range n {
		for v := range n {
			if reach[u][v] {
				ordered[u] |= 1 << v
			}
		}
	}
	best := 0
	for set := range uint(1) << n {
		independent := true
		for rest := set; rest != 0 && independent; rest &= rest - 1 {
			independent = ordered[bits.TrailingZeros(rest)]&set == 0
		}
		if independent {
			best = max(best, bits.OnesCount(set))
		}
	}
	return best
}

func requireConcurrent(t *testing.T, s *ir.Schedule, reach [][]bool) {
	for v := range s.Lane {
		for u := range v {
			if s.Lane[u] == s.Lane[v] {
				require.True(t, reach[u][v], "%d and %d may run at the same time but share lane %d", u, v, s.Lane[u])
			}
		}
	}
}

func TestMinCoverHasTheWidthInLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 33))
	for round := range rounds(10_000) {
		n := 1 + r.IntN(12)
		edges := randomEdges(r, n, r.IntN(2*n), 1+r.IntN(n))
		s := scheduled(t, graphOf(t, "random", n, edges), minCover{})
		require.Equal(t, largestAntichain(n, edges), s.Lanes, "round %d: %v", round, edges)
		requireConcurrent(t, s, closure(n, edges))
	}
	for range rounds(300) {
		n := 1 + r.IntN(80)
		edges := randomEdges(r, n, r.IntN(4*n), 1+r.IntN(n))
		s := scheduled(t, graphOf(t, "random", n, edges), minCover{})
		require.Equal(t, width(n, edges), s.Lanes)
		requireConcurrent(t, s, closure(n, edges))
	}
}

func TestMinCoverOnRealGraphs(t *testing.T) {
	for _, c := range realDAGs {
		s := plan(t, loadDAG(t, c.name), "mincover").Schedule
		assert.Equal(t, c.width, s.Lanes, c.name)
		assert.GreaterOrEqual(t, s.Syncs(), c.minSync, c.name)
		t.Logf("%s: %d waits, %d at least", c.name, s.Syncs(), c.minSync)
	}
}
