package dag

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// drawn is a random graph with its edges as the oracles take them. Node v has the ID ids[v].
type drawn struct {
	*simple.DirectedGraph
	n     int
	edges []densetest.Edge
	ids   []int64
	of    map[int64]int
}

// draw returns a random acyclic graph whose IDs are in no order.
func draw(r *rand.Rand, most int) drawn {
	n := 1 + r.IntN(most)
	d := drawn{simple.NewDirectedGraph(), n, densetest.RandomEdges(r, n, r.IntN(4*n), 1+r.IntN(n)), nil, map[int64]int{}}
	for len(d.ids) < n {
		id := r.Int64N(1000) - 500
		if _, taken := d.of[id]; !taken {
			d.of[id] = len(d.ids)
			d.ids = append(d.ids, id)
			d.AddNode(simple.Node(id))
		}
	}
	for _, e := range d.edges {
		d.SetEdge(simple.Edge{F: simple.Node(d.ids[e.From]), T: simple.Node(d.ids[e.To])})
	}
	return d
}

// numbers returns the numbers of nodes in the oracles.
func (d drawn) numbers(nodes []graph.Node) []int {
	list := make([]int, len(nodes))
	for i, n := range nodes {
		list[i] = d.of[n.ID()]
	}
	return list
}

// each runs a property on random graphs.
func each(t *testing.T, most int, property func(t *testing.T, d drawn, reach [][]bool)) {
	r := rand.New(rand.NewPCG(71, 71))
	for range densetest.Rounds(1000) {
		d := draw(r, most)
		property(t, d, densetest.Closure(d.n, d.edges))
		if t.Failed() {
			t.Fatalf("%d nodes, edges %v", d.n, d.edges)
		}
	}
}

// requirePartition reports an error unless the lists hold each node once and come in a topological
// order of their first nodes.
func requirePartition(t *testing.T, d drawn, lists [][]graph.Node, reach [][]bool) {
	t.Helper()
	seen := make([]bool, d.n)
	for i, list := range lists {
		require.NotEmpty(t, list)
		for _, v := range d.numbers(list) {
			require.False(t, seen[v], "node %d twice", v)
			seen[v] = true
		}
		for _, later := range lists[i+1:] {
			require.False(t, reach[d.of[later[0].ID()]][d.of[list[0].ID()]])
		}
	}
	require.NotContains(t, seen, false)
}
