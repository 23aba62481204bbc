package dag

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

func TestMaximumMatching(t *testing.T) {
	r := rand.New(rand.NewPCG(74, 74))
	for range densetest.Rounds(1000) {
		left, right := 1+r.IntN(8), 1+r.IntN(8)
		ids := r.Perm(left + right)
		g := simple.NewUndirectedGraph()
		for _, id := range ids {
			g.AddNode(simple.Node(id))
		}
		var edges []densetest.Edge
		for range r.IntN(3 * left) {
			u, v := r.IntN(left), left+r.IntN(right)
			edges = append(edges, densetest.Edge{From: int32(u), To: int32(v)})
			g.SetEdge(simple.Edge{F: simple.Node(ids[u]), T: simple.Node(ids[v])})
		}
		matching, err := MaximumMatching(g)
		require.NoError(t, err)
		require.Len(t, matching, densetest.Matching(left+right, edges))
		used := map[int64]bool{}
		for _, e := range matching {
			require.True(t, g.HasEdgeBetween(e.From().ID(), e.To().ID()))
			require.False(t, used[e.From().ID()] || used[e.To().ID()])
			used[e.From().ID()], used[e.To().ID()] = true, true
		}
	}
}

// A graph that two colours do not colour has an odd cycle, which the error lists.
func TestMatchingRefusesOddCycles(t *testing.T) {
	r := rand.New(rand.NewPCG(75, 75))
	odd := 0
	for range densetest.Rounds(2000) {
		n := 1 + r.IntN(9)
		g := simple.NewUndirectedGraph()
		for v := range n {
			g.AddNode(simple.Node(v))
		}
		for range r.IntN(2 * n) {
			if u, v := r.IntN(n), r.IntN(n); u != v {
				g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
			}
		}
		k, _, err := ExactColoring(g, 0, 100_000)
		require.NoError(t, err)
		_, err = MaximumMatching(g)
		if k <= 2 {
			require.NoError(t, err)
			continue
		}
		odd++
		var cycle NotBipartite
		require.ErrorAs(t, err, &cycle)
		require.Equal(t, 1, len(cycle)%2)
		seen := map[graph.Node]bool{}
		for i, n := range cycle {
			require.False(t, seen[n])
			seen[n] = true
			require.True(t, g.HasEdgeBetween(n.ID(), cycle[(i+1)%len(cycle)].ID()), "%v", cycle)
		}
	}
	require.Positive(t, odd)
}

func TestNotBipartiteIsOneLine(t *testing.T) {
	g := simple.NewUndirectedGraph()
	for v := range 3 {
		g.SetEdge(simple.Edge{F: simple.Node(v), T: simple.Node((v + 1) % 3)})
	}
	_, err := MaximumMatching(g)
	assert.ErrorContains(t, err, "dag: the graph is not bipartite: 3 nodes form an odd cycle: [")
	assert.ErrorContains(t, NotBipartite(make([]graph.Node, 0)), "0 nodes")
}
