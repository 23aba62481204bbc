package dense

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph/coloring"
	"gonum.org/v1/gonum/graph/simple"
)

// The search by itself, from one colour for each node and without a bound, on graphs
// that need not be perfect: it comes to the chromatic number that gonum's finds.
func TestExactColoringOfAnyGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 35))
	beaten := 0
	for range 600 {
		n := 1 + r.IntN(11)
		g := simple.NewUndirectedGraph()
		near := make([]Set, n)
		for v := range n {
			g.AddNode(simple.Node(v))
			near[v] = NewSet(n)
		}
		density := r.Float64()
		for v := range n {
			for u := range v {
				if r.Float64() < density {
					g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
					near[u].Add(v)
					near[v].Add(u)
				}
			}
		}
		want, _, err := coloring.DsaturExact(nil, g)
		require.NoError(t, err)
		each := make([]int32, n)
		for v := range each {
			each[v] = int32(v)
		}
		s := newColorSearch(near, each, 0, 200_000)
		require.False(t, s.extend(0), "nothing is as few as none")
		require.Equal(t, want, s.fewest)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(s.best))), want)
		for v := range n {
			for u := range v {
				require.False(t, near[u].Has(v) && s.best[u] == s.best[v])
			}
		}
		if firstFit(near) > want {
			beaten++
		}
	}
	require.Positive(t, beaten, "the simplest colouring was always right: the test has no hard case")
}

// firstFit returns the number of colours if each node in turn gets the first that no neighbour has.
func firstFit(near []Set) (colors int) {
	color := make([]int, len(near))
	for v := range near {
		taken := NewSet(len(near))
		for u := range v {
			if near[v].Has(u) {
				taken.Add(color[u])
			}
		}
		for taken.Has(color[v]) {
			color[v]++
		}
		colors = max(colors, color[v]+1)
	}
	return colors
}

func TestExactColoringGivesUp(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 36))
	near, each := make([]Set, 40), make([]int32, 40)
	for v := range near {
		each[v], near[v] = int32(v), NewSet(len(near))
		for u := range v {
			if r.IntN(2) == 0 {
				near[u].Add(v)
				near[v].Add(u)
			}
		}
	}
	s := newColorSearch(near, each, 0, 100)
	require.False(t, s.extend(0))
	require.Negative(t, s.steps)
}
