package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph/coloring"
	"gonum.org/v1/gonum/graph/simple"

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
	for round := range rounds(10_000) {
		n := 1 + r.IntN(12)
		edges := randomEdges(r, n, r.IntN(2*n), 1+r.IntN(n))
		g, reach, best := graphOf(t, "random", n, edges), closure(n, edges), largestAntichain(n, edges)
		for _, s := range []colored{{dsatur}, {largestFirst}, {exactColoring}} {
			schedule := scheduled(t, g, s)
			requireConcurrent(t, schedule, reach)
			require.GreaterOrEqual(t, schedule.Lanes, best)
		}
		require.Equal(t, best, scheduled(t, g, colored{exactColoring}).Lanes, "round %d: %v", round, edges)
	}
}

// The search by itself, from one colour for each node and without a bound, on graphs
// that need not be perfect: it comes to the chromatic number that gonum's finds.
func TestExactColoringOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 35))
	beaten := 0
	for range 600 {
		n := 1 + r.IntN(11)
		g := simple.NewUndirectedGraph()
		near := make([]bitset, n)
		for v := range n {
			g.AddNode(simple.Node(v))
			near[v] = newBitset(n)
		}
		density := r.Float64()
		for v := range n {
			for u := range v {
				if r.Float64() < density {
					g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
					near[u].set(v)
					near[v].set(u)
				}
			}
		}
		want, _, err := coloring.DsaturExact(nil, g)
		require.NoError(t, err)
		each := make([]int32, n)
		for v := range each {
			each[v] = int32(v)
		}
		s := newColorSearch(near, each, 0, maxColorSteps)
		require.False(t, s.extend(0), "nothing is as few as none")
		require.Equal(t, want, s.fewest)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(s.best))), want)
		for v := range n {
			for u := range v {
				require.False(t, near[u].has(v) && s.best[u] == s.best[v])
			}
		}
		if colors, _ := coloring.RecursiveLargestFirst(g); colors > want {
			beaten++
		}
	}
	require.Positive(t, beaten, "a heuristic was always right: the test has no hard case")
}

func TestExactColoringGivesUp(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 36))
	near, each := make([]bitset, 40), make([]int32, 40)
	for v := range near {
		each[v], near[v] = int32(v), newBitset(len(near))
		for u := range v {
			if r.IntN(2) == 0 {
				near[u].set(v)
				near[v].set(u)
			}
		}
	}
	s := newColorSearch(near, each, 0, 100)
	require.False(t, s.extend(0))
	require.Negative(t, s.steps)
}

// On graphs that are large enough for the heuristics to be wrong, the search comes to
// the width all the same.
func TestExactColoringBeatsTheHeuristics(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 37))
	beaten := 0
	for range 60 {
		n := 40 + r.IntN(20)
		edges := randomEdges(r, n, 3*n, 20)
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
	assert.EqualError(t, err, "assign: strategy coloring: graphs of up to 256 operations can be coloured, and this one has 257: mincover finds as few lanes for any")
	s := plan(t, graphOf(t, "largest", maxColored, nil), "coloring").Schedule
	assert.Equal(t, maxColored, s.Lanes)
	assert.Equal(t, ir.LaneID(0), s.Lane[0])
}
