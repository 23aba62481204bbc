package optimizer

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// largestAntichain is the most operations that may run at the same time, from all sets
// of them.
func largestAntichain(n int, edges []edge) int {
	reach := densetest.Closure(n, edges)
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
	for round := range densetest.Rounds(10_000) {
		n := 1 + r.IntN(12)
		edges := densetest.RandomEdges(r, n, r.IntN(2*n), 1+r.IntN(n))
		s := scheduled(t, graphOf(t, "random", n, edges), minCover{})
		require.Equal(t, largestAntichain(n, edges), s.Lanes, "round %d: %v", round, edges)
		requireConcurrent(t, s, densetest.Closure(n, edges))
	}
	for range densetest.Rounds(300) {
		n := 1 + r.IntN(80)
		edges := densetest.RandomEdges(r, n, r.IntN(4*n), 1+r.IntN(n))
		s := scheduled(t, graphOf(t, "random", n, edges), minCover{})
		require.Equal(t, densetest.Width(n, edges), s.Lanes)
		requireConcurrent(t, s, densetest.Closure(n, edges))
	}
}

func TestMinCoverOnRealGraphs(t *testing.T) {
	for _, c := range densetest.Published {
		s := plan(t, loadDAG(t, c.Name), "mincover").Schedule
		assert.Equal(t, c.Width, s.Lanes, c.Name)
		assert.GreaterOrEqual(t, s.Syncs(), c.MinSync, c.Name)
		t.Logf("%s: %d waits, %d at least", c.Name, s.Syncs(), c.MinSync)
	}
}
