package dag

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/coloring"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/testgraph"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// listed is a graph whose iterator hands out a slice of its own.
type listed struct {
	*simple.DirectedGraph
	nodes []graph.Node
}

func (g listed) Nodes() graph.Nodes { return iterator.NewOrderedNodes(g.nodes) }

func TestIncomparabilityJoinsWhatNoPathOrders(t *testing.T) {
	each(t, 12, func(t *testing.T, d drawn, reach [][]bool) {
		g, err := Incomparability(d)
		require.NoError(t, err)
		require.Equal(t, d.n, g.Nodes().Len())
		for u := range d.n {
			for v := range d.n {
				apart := u != v && !reach[u][v] && !reach[v][u]
				assert.Equal(t, apart, g.HasEdgeBetween(d.ids[u], d.ids[v]))
			}
		}
		k, _, err := ExactColoring(g, 0, 100_000)
		require.NoError(t, err)
		assert.Equal(t, densetest.Width(d.n, d.edges), k, "the graph is perfect")
	})
}

// build makes a bitGraph of a conformance case. Loops are left out.
func build(nodes []graph.Node, lines []testgraph.WeightedLine, _, _ float64) (graph.Graph, []graph.Node, []testgraph.Edge, float64, float64, bool) {
	all := simple.NewUndirectedGraph()
	for _, n := range nodes {
		all.AddNode(n)
	}
	for _, l := range lines {
		for _, n := range []graph.Node{l.From(), l.To()} {
			if all.Node(n.ID()) == nil {
				all.AddNode(n)
			}
		}
	}
	x := byID(all.Nodes())
	g := &bitGraph{x, make([]dense.Set, len(x.nodes))}
	for v := range g.rows {
		g.rows[v] = dense.NewSet(len(x.nodes))
	}
	var edges []testgraph.Edge
	for _, l := range lines {
		u, v := l.From().ID(), l.To().ID()
		if u == v {
			continue
		}
		g.rows[x.number[u]].Add(int(x.number[v]))
		g.rows[x.number[v]].Add(int(x.number[u]))
		edges = append(edges, g.EdgeBetween(u, v))
	}
	return g, x.nodes, edges, math.NaN(), math.NaN(), true
}

// TestConformance runs gonum's own suite for graphs that cannot change.
func TestConformance(t *testing.T) {
	const useEmpty, reversedEdge = true, true
	t.Run("all nodes", func(t *testing.T) { testgraph.ReturnAllNodes(t, build, useEmpty) })
	t.Run("node slice", func(t *testing.T) { testgraph.ReturnNodeSlice(t, build, useEmpty) })
	t.Run("existence", func(t *testing.T) { testgraph.NodeExistence(t, build) })
	t.Run("edges", func(t *testing.T) { testgraph.EdgeExistence(t, build, reversedEdge) })
	t.Run("adjacent", func(t *testing.T) { testgraph.ReturnAdjacentNodes(t, build, useEmpty, reversedEdge) })
}

// ExactColoring agrees with gonum's, on graphs that need not be perfect.
func TestExactColoringAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 72))
	beaten := 0
	for range 600 {
		n := 1 + r.IntN(11)
		g := simple.NewUndirectedGraph()
		for v := range n {
			g.AddNode(simple.Node(3 * v))
		}
		density := r.Float64()
		for v := range n {
			for u := range v {
				if r.Float64() < density {
					g.SetEdge(simple.Edge{F: simple.Node(3 * u), T: simple.Node(3 * v)})
				}
			}
		}
		want, _, err := coloring.DsaturExact(nil, g)
		require.NoError(t, err)
		k, colors, err := ExactColoring(g, 0, 100_000)
		require.NoError(t, err)
		require.Equal(t, want, k)
		for edges := g.Edges(); edges.Next(); {
			e := edges.Edge()
			require.NotEqual(t, colors[e.From().ID()], colors[e.To().ID()])
		}
		for _, c := range colors {
			require.Less(t, c, k)
		}
		if firstFit(g, n) > want {
			beaten++
		}
		_, again, err := ExactColoring(g, 0, 100_000)
		require.NoError(t, err)
		require.Equal(t, colors, again, "gonum's maps are in another order each time")
	}
	require.Positive(t, beaten, "the simplest colouring was always right: the test has no hard case")
}

// firstFit returns the number of colours if each node in turn gets the first that no neighbour has.
func firstFit(g *simple.UndirectedGraph, n int) (colors int) {
	color := map[int64]int{}
	for v := range int64(n) {
		c := 0
		for u := int64(0); u < v; u++ {
			if g.HasEdgeBetween(3*u, 3*v) && color[u] == c {
				c, u = c+1, -1
			}
		}
		color[v] = c
		colors = max(colors, c+1)
	}
	return colors
}

func TestExactColoringHasABound(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 73))
	g := simple.NewUndirectedGraph()
	for v := range int64(60) {
		g.AddNode(simple.Node(v))
		for u := range v {
			if r.IntN(2) == 0 {
				g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
			}
		}
	}
	k, colors, err := ExactColoring(g, 0, 100)
	require.ErrorIs(t, err, ErrSteps)
	assert.Len(t, colors, 60)
	again, _, err := ExactColoring(g, k, 1)
	require.NoError(t, err, "a colouring with as few colours as there can be needs no search")
	assert.Equal(t, k, again)
}
