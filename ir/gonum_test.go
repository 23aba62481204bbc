package ir_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/testgraph"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// built counts the conformance cases that a Graph can represent.
var built int

// build makes a Graph of a conformance case. Ids of a Graph are dense, and edges run to higher ids. Cases with
// other ids are omitted; other edges are reversed, and loops are dropped.
func build(nodes []graph.Node, lines []testgraph.WeightedLine, _, _ float64) (graph.Graph, []graph.Node, []testgraph.Edge, float64, float64, bool) {
	ids := make(map[int64]bool)
	for _, n := range nodes {
		ids[n.ID()] = true
	}
	for _, l := range lines {
		ids[l.From().ID()], ids[l.To().ID()] = true, true
	}
	g := &ir.Graph{Ops: make([]ir.Op, len(ids))}
	for id := range int64(len(ids)) {
		if !ids[id] {
			return nil, nil, nil, 0, 0, false
		}
	}
	var deps []ir.Dep
	var edges []testgraph.Edge
	for _, l := range lines {
		u, v := min(l.From().ID(), l.To().ID()), max(l.From().ID(), l.To().ID())
		if u != v {
			deps = append(deps, ir.Dep{From: ir.OpID(u), To: ir.OpID(v), Hazard: ir.Ordered})
		}
	}
	g, err := g.WithDeps(ir.Analyzed, deps, nil)
	if err != nil {
		panic(err)
	}
	var all []graph.Node // of the graph that is tested, which is part of a node
	for id := range int64(len(ids)) {
		all = append(all, g.Node(id))
	}
	for _, d := range g.Deps() {
		edges = append(edges, g.Edge(int64(d.From), int64(d.To)))
	}
	built++
	return g, all, edges, math.NaN(), math.NaN(), true
}

// TestGonumConformance runs gonum's own suite for graphs that cannot change.
func TestGonumConformance(t *testing.T) {
	const useEmpty, reversedEdge = true, false
	for name, run := range map[string]func(*testing.T){
		"all nodes":  func(t *testing.T) { testgraph.ReturnAllNodes(t, build, useEmpty) },
		"node slice": func(t *testing.T) { testgraph.ReturnNodeSlice(t, build, useEmpty) },
		"existence":  func(t *testing.T) { testgraph.NodeExistence(t, build) },
		"edges":      func(t *testing.T) { testgraph.EdgeExistence(t, build, reversedEdge) },
		"adjacent":   func(t *testing.T) { testgraph.ReturnAdjacentNodes(t, build, useEmpty, reversedEdge) },
	} {
		t.Run(name, func(t *testing.T) {
			built = 0
			run(t)
			assert.Greater(t, built, 3, "too few cases can be represented")
		})
	}
}

func ids(nodes []graph.Node) (ids []int64) {
	for _, n := range nodes {
		ids = append(ids, n.ID())
	}
	return ids
}

// diamond is 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3, with 4 apart.
func diamond(t *testing.T) *ir.Graph {
	g := &ir.Graph{Ops: make([]ir.Op, 5)}
	return withDeps(t, g, ir.Reduced, []ir.Dep{{From: 0, To: 1}, {From: 2, To: 3}, {From: 0, To: 2}, {From: 1, To: 3}})
}

func TestGonumIteratesInOrder(t *testing.T) {
	g := diamond(t)
	assert.Equal(t, []int64{0, 1, 2, 3, 4}, ids(graph.NodesOf(g.Nodes())))
	assert.Equal(t, []int64{1, 2}, ids(graph.NodesOf(g.From(0))))
	assert.Equal(t, []int64{1, 2}, ids(graph.NodesOf(g.To(3))))
	assert.Equal(t, graph.Empty, g.From(4))
	assert.Equal(t, graph.Empty, g.To(99))
	assert.Nil(t, g.Node(5))
	assert.Nil(t, g.Node(-1))
	assert.Nil(t, g.Edge(1, 0))
	assert.True(t, g.HasEdgeBetween(1, 0))
	assert.False(t, g.HasEdgeBetween(1, 2))
}

func TestGonumIteratorRewinds(t *testing.T) {
	it := diamond(t).Nodes()
	require.True(t, it.Next())
	require.True(t, it.Next())
	assert.Equal(t, 3, it.Len())
	assert.Equal(t, []int64{2, 3, 4}, ids(graph.NodesOf(it)))
	assert.Equal(t, 0, it.Len())
	assert.False(t, it.Next())
	it.Reset()
	assert.Equal(t, 5, it.Len())
}

func TestGonumAlgorithmsRunOnAGraph(t *testing.T) {
	g := diamond(t)
	sorted, err := topo.Sort(g)
	require.NoError(t, err)
	at := make(map[int64]int)
	for i, n := range sorted {
		at[n.ID()] = i
	}
	for _, d := range g.Deps() {
		assert.Less(t, at[int64(d.From)], at[int64(d.To)])
	}
	assert.Len(t, topo.TarjanSCC(g), 5)
	assert.True(t, topo.PathExistsIn(g, g.Node(0), g.Node(3)))
	assert.False(t, topo.PathExistsIn(g, g.Node(0), g.Node(4)))
	route, length := path.DijkstraFrom(g.Node(0), g).To(3)
	assert.Equal(t, 2.0, length)
	assert.Len(t, route, 3)
}

// The verifier's search finds a path exactly where Dijkstra's algorithm does.
func TestGonumPathsAgreeWithReachability(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	g := irtest.Analyze(irtest.RandomDAG(r, 40, 0.06))
	m := graphReach(g)
	for u := range g.Ops {
		shortest := path.DijkstraFrom(g.Node(int64(u)), g)
		for v := u + 1; v < g.Len(); v++ {
			assert.Equal(t, m[v][u], !math.IsInf(shortest.WeightTo(int64(v)), 1))
		}
	}
}
