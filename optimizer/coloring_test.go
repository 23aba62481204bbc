package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

func TestColoringOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 4, []edge{{0, 1}, {1, 3}, {0, 2}})
	for _, name := range []string{"coloring", "coloring(rlf)", "coloring(exact)"} {
		s := plan(t, g, name).Schedule
		assert.Equal(t, 2, s.Lanes, name)
		assert.NotEqual(t, s.Lane[1], s.Lane[2], name)
		assert.NotEqual(t, s.Lane[2], s.Lane[3], name)
	}
}

func TestColoringKeepsAllConcurrency(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 34))
	for round := range densetest.Rounds(10_000) {
		n := 1 + r.IntN(12)
		edges := densetest.RandomEdges(r, n, r.IntN(2*n), 1+r.IntN(n))
		g, reach, best := graphOf(t, "random", n, edges), densetest.Closure(n, edges), largestAntichain(n, edges)
		for _, s := range []colored{{dsatur}, {largestFirst}, {exactColoring}} {
			schedule := scheduled(t, g, s)
			requireConcurrent(t, schedule, reach)
			require.GreaterOrEqual(t, schedule.Lanes, best)
		}
		require.Equal(t, best, scheduled(t, g, colored{exactColoring}).Lanes, "round %d: %v", round, edges)
	}
}

// On graphs that are large enough for the heuristics to be wrong, the search comes to
// the width all the same.
func TestExactColoringBeatsTheHeuristics(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 37))
	beaten := 0
	for range 60 {
		n := 40 + r.IntN(20)
		edges := densetest.RandomEdges(r, n, 3*n, 20)
		g := graphOf(t, "random", n, edges)
		want := scheduled(t, g, minCover{}).Lanes
		a, err := colored{exactColoring}.assign(g, nil)
		if err != nil {
			require.ErrorIs(t, err, errSearchTooLong)
			continue
		}
		require.Equal(t, want, int(slices.Max(a.lane))+1)
		if scheduled(t, g, colored{dsatur}).Lanes > want && scheduled(t, g, colored{largestFirst}).Lanes > want {
			beaten++
		}
	}
	require.Positive(t, beaten, "a heuristic was always right: the test has no hard case")
}

func TestColoringIsForSmallGraphs(t *testing.T) {
	_, err := Plan(graphOf(t, "large", maxColored+1, nil), Options{Strategy: "coloring"})
	assert.EqualError(t, err, "assign: strategy coloring: the graph has 257 operations and colouring is limited to 256: use mincover, which finds the fewest lanes for any size")
	s := plan(t, graphOf(t, "largest", maxColored, nil), "coloring").Schedule
	assert.Equal(t, maxColored, s.Lanes)
	assert.Equal(t, ir.LaneID(0), s.Lane[0])
}
