package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// The lanes come to the width, which no assignment with all the concurrency can
// beat. This is not guaranteed: a plan with the fewest waits may require more lanes.
func TestNimbleOnRealGraphs(t *testing.T) {
	for _, c := range densetest.Published {
		res := plan(t, loadDAG(t, c.Name), "nimble")
		d := dagOf(res.Reduced)
		m := dense.MaximumMatching(d.Rows)
		assert.Len(t, d.To, c.Reduced, c.Name)
		assert.Equal(t, c.Matched, m.Size, c.Name)
		assert.Len(t, m.Chains(), c.Chains, c.Name)
		assert.Equal(t, c.MinSync, res.Schedule.Syncs(), c.Name)
		assert.Equal(t, c.Width, res.Schedule.Lanes, c.Name)
	}
}

// The definition: operations that no path orders are on different lanes, and the
// waits are as many as the theorem says, whichever way the lanes were joined.
func TestNimbleKeepsAllConcurrency(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		n := 1 + r.IntN(60)
		edges := densetest.RandomEdges(r, n, r.IntN(3*n), 1+r.IntN(n))
		g := plan(t, graphOf(t, "random", n, edges), "serial").Reduced
		reach := densetest.Closure(n, edges)
		fewest := len(g.Deps()) - densetest.Matching(g.Len(), dagOf(g).Edges())
		for _, strategy := range []nimble{{dense.MaxJoinBits, dense.MaxMergedChains}, {0, dense.MaxMergedChains}, {0, 3}, {0, 0}} {
			s := scheduled(t, g, strategy)
			for v := range n {
				for u := range v {
					if s.Lane[u] == s.Lane[v] {
						require.True(t, reach[u][v], "%d and %d may run at the same time but share lane %d", u, v, s.Lane[u])
					}
				}
			}
			require.Equal(t, fewest, s.Syncs(), "%+v", strategy)
		}
	}
}

// fewestCrossings is the least number of reduced edges between lanes, of all ways to put
// operations on lanes on which no two are concurrent.
func fewestCrossings(n int, edges []edge, reach [][]bool) int {
	fewest := len(edges)
	lane := make([]int, n)
	var place func(v, lanes, crossings int)
	place = func(v, lanes, crossings int) {
		if crossings >= fewest {
			return
		}
		if v == n {
			fewest = crossings
			return
		}
	next:
		for l := range lanes + 1 {
			for u := range v {
				if lane[u] == l && !reach[u][v] {
					continue next
				}
			}
			lane[v] = l
			more := 0
			for _, e := range edges {
				if int(e.To) == v && lane[e.From] != l {
					more++
				}
			}
			place(v+1, max(lanes, l+1), crossings+more)
		}
	}
	place(0, 0, 0)
	return fewest
}

// No schedule that keeps all the concurrency has fewer waits, of all that there are: each
// reduced edge between lanes needs one, for nothing else implies it.
func TestNimbleHasTheFewestWaitsOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	for round := range densetest.Rounds(10_000) {
		n := 1 + r.IntN(12)
		edges := densetest.Reduction(n, densetest.RandomEdges(r, n, r.IntN(2*n), 1+r.IntN(n)))
		g := plan(t, graphOf(t, "random", n, edges), "serial").Reduced
		s := scheduled(t, g, nimble{dense.MaxJoinBits, dense.MaxMergedChains})
		reach := densetest.Closure(n, edges)
		requireConcurrent(t, s, reach)
		require.Equal(t, fewestCrossings(n, edges, reach), s.Syncs(), "round %d: %v", round, edges)
	}
}

// scheduled is a reduced graph's schedule under one strategy.
func scheduled(t *testing.T, g *ir.Graph, by strategy) *ir.Schedule {
	a, err := by.assign(g, &Options{})
	require.NoError(t, err)
	if a.order == nil {
		a.order = programOrder(g)
	}
	s := &ir.Schedule{Graph: g, Order: a.order}
	s.Lane, s.Lanes = renumbered(a)
	require.NoError(t, syncs(s, &Options{}))
	require.NoError(t, ir.VerifySchedule(s))
	return s
}

// Left out of the passes, reduce must not take nimble's guarantee along.
func TestNimbleWithoutReduce(t *testing.T) {
	g := graphOf(t, "triangle", 3, []edge{{0, 1}, {0, 2}, {1, 2}})
	res, err := Plan(g, Options{Passes: []string{"hazards", "assign", "syncs"}})
	require.NoError(t, err)
	assert.Nil(t, res.Reduced)
	assert.Len(t, res.Schedule.Graph.Deps(), 3)
	assert.Equal(t, []ir.LaneID{0, 0, 0}, res.Schedule.Lane)
	assert.Zero(t, res.Schedule.Syncs())
}
