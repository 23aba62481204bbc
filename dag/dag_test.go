package dag

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

func TestReduceKeepsWhatNoPathImplies(t *testing.T) {
	each(t, 12, func(t *testing.T, d drawn, reach [][]bool) {
		reduced, err := Reduce(d)
		require.NoError(t, err)
		var got []densetest.Edge
		for edges := reduced.Edges(); edges.Next(); {
			e := edges.Edge()
			got = append(got, densetest.Edge{From: int32(d.of[e.From().ID()]), To: int32(d.of[e.To().ID()])})
		}
		assert.Equal(t, densetest.Reduction(d.n, d.edges), densetest.Distinct(got))
		for u := range d.n { // gonum finds the same paths
			for v := range d.n {
				assert.Equal(t, u == v || reach[u][v], topo.PathExistsIn(reduced, simple.Node(d.ids[u]), simple.Node(d.ids[v])))
			}
		}
	})
}

// The edges of the result are those of the argument, with their weights.
func TestReduceKeepsEdges(t *testing.T) {
	g := simple.NewWeightedDirectedGraph(0, 0)
	for _, e := range [][3]int64{{0, 1, 5}, {1, 2, 6}, {0, 2, 7}} {
		g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(e[0]), T: simple.Node(e[1]), W: float64(e[2])})
	}
	reduced, err := Reduce(g)
	require.NoError(t, err)
	assert.Equal(t, simple.WeightedEdge{F: simple.Node(0), T: simple.Node(1), W: 5}, reduced.Edge(0, 1))
	assert.Nil(t, reduced.Edge(0, 2))
}

// Reduce is exact where the optimizer would leave edges undecided.
func TestReduceIsExactOnWideGraphs(t *testing.T) {
	nodes, edges := densetest.Load(t, "epfl_sin")
	g := simple.NewDirectedGraph()
	for v := range nodes {
		g.AddNode(simple.Node(v))
	}
	for _, e := range edges {
		g.SetEdge(simple.Edge{F: simple.Node(e.From), T: simple.Node(e.To)})
	}
	reduced, err := Reduce(g)
	require.NoError(t, err)
	antichain, err := MaximumAntichain(g)
	require.NoError(t, err)
	for _, c := range densetest.Published {
		if c.Name == "epfl_sin" {
			assert.Equal(t, c.Reduced, reduced.Edges().Len())
			assert.Len(t, antichain, c.Width)
		}
	}
}

func TestMinimumPathCover(t *testing.T) {
	each(t, 12, func(t *testing.T, d drawn, reach [][]bool) {
		paths, err := MinimumPathCover(d)
		require.NoError(t, err)
		requirePartition(t, d, paths, reach)
		assert.Len(t, paths, d.n-densetest.Matching(d.n, d.edges))
		for _, path := range paths {
			for i := range path[1:] {
				assert.True(t, d.HasEdgeFromTo(path[i].ID(), path[i+1].ID()))
			}
		}
	})
}

func TestChainCoverAndAntichainHaveTheWidth(t *testing.T) {
	each(t, 14, func(t *testing.T, d drawn, reach [][]bool) {
		width := densetest.Width(d.n, d.edges)
		chains, err := MinimumChainCover(d)
		require.NoError(t, err)
		requirePartition(t, d, chains, reach)
		assert.Len(t, chains, width)
		for _, chain := range chains {
			list := d.numbers(chain)
			for i := range list[1:] {
				assert.True(t, reach[list[i]][list[i+1]])
			}
		}
		antichain, err := MaximumAntichain(d)
		require.NoError(t, err)
		assert.Len(t, antichain, width)
		list := d.numbers(antichain)
		for i, u := range list {
			for _, v := range list[i+1:] {
				assert.False(t, reach[u][v] || reach[v][u])
			}
		}
	})
}

// A graph without nodes has a result from each function.
func TestEmptyGraph(t *testing.T) {
	g := simple.NewDirectedGraph()
	reduced, err := Reduce(g)
	require.NoError(t, err)
	assert.Zero(t, reduced.Nodes().Len())
	for _, cover := range []func(graph.Directed) ([][]graph.Node, error){MinimumPathCover, MinimumChainCover} {
		lists, err := cover(g)
		require.NoError(t, err)
		assert.Empty(t, lists)
	}
	antichain, err := MaximumAntichain(g)
	require.NoError(t, err)
	assert.Empty(t, antichain)
	apart, err := Incomparability(g)
	require.NoError(t, err)
	assert.Zero(t, apart.Nodes().Len())
	edges, err := MaximumMatching(simple.NewUndirectedGraph())
	require.NoError(t, err)
	assert.Empty(t, edges)
	k, colors, err := ExactColoring(apart, 0, 1)
	require.NoError(t, err)
	assert.Zero(t, k)
	assert.Empty(t, colors)
}

// Every function returns what gonum's sort does for a graph with cycles, and a loop besides.
func TestCyclesAreErrors(t *testing.T) {
	functions := map[string]func(graph.Directed) error{
		"reduce":          func(g graph.Directed) error { _, err := Reduce(g); return err },
		"path cover":      func(g graph.Directed) error { _, err := MinimumPathCover(g); return err },
		"chain cover":     func(g graph.Directed) error { _, err := MinimumChainCover(g); return err },
		"antichain":       func(g graph.Directed) error { _, err := MaximumAntichain(g); return err },
		"incomparability": func(g graph.Directed) error { _, err := Incomparability(g); return err },
	}
	g := simple.NewDirectedGraph()
	for _, e := range [][2]int64{{1, 2}, {2, 3}, {3, 1}, {3, 4}, {5, 6}, {6, 5}} {
		g.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	_, want := topo.Sort(g)
	loop := multi.NewDirectedGraph()
	loop.SetLine(loop.NewLine(multi.Node(7), multi.Node(8)))
	loop.SetLine(loop.NewLine(multi.Node(8), multi.Node(8)))
	for name, f := range functions {
		var cycles topo.Unorderable
		require.ErrorAs(t, f(g), &cycles, name)
		assert.ElementsMatch(t, want, cycles, name)
		require.ErrorAs(t, f(loop), &cycles, name)
		assert.Equal(t, topo.Unorderable{{multi.Node(8)}}, cycles, name)
	}
}

// Parallel lines of a multigraph are one edge.
func TestParallelEdges(t *testing.T) {
	g := multi.NewDirectedGraph()
	for range 3 {
		g.SetLine(g.NewLine(multi.Node(1), multi.Node(0)))
	}
	reduced, err := Reduce(g)
	require.NoError(t, err)
	assert.True(t, reduced.HasEdgeFromTo(1, 0))
	chains, err := MinimumChainCover(g)
	require.NoError(t, err)
	assert.Equal(t, [][]graph.Node{{multi.Node(1), multi.Node(0)}}, chains)
}

// The nodes of the argument's iterator stay in their order.
func TestArgumentsAreNotChanged(t *testing.T) {
	nodes := []graph.Node{simple.Node(3), simple.Node(1), simple.Node(2)}
	g := listed{simple.NewDirectedGraph(), nodes}
	for _, n := range nodes {
		g.AddNode(n)
	}
	_, err := Reduce(g)
	require.NoError(t, err)
	assert.True(t, slices.Equal(nodes, []graph.Node{simple.Node(3), simple.Node(1), simple.Node(2)}))
}
