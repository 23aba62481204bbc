package dense

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// reductions are the methods, each alone and in combinations in which one continues the work of another.
var reductions = map[string]func(*Reduction){
	"search": func(r *Reduction) { newRankCut(r).run(math.MaxInt) },
	"blocks": func(r *Reduction) { newBlockSweeps(r).reduce() },
	"chains": func(r *Reduction) { newChainSweeps(r).reduce() },
	"search, then blocks": func(r *Reduction) {
		newRankCut(r).run(len(r.Graph.To) / 2)
		newBlockSweeps(r).reduce()
	},
	"search, stopped once, then chains": func(r *Reduction) {
		s := newRankCut(r)
		s.run(len(r.Graph.To) / 4)
		s.run(len(r.Graph.To) / 2)
		newChainSweeps(r).reduce()
	},
	"window, then search": func(r *Reduction) {
		r.window()
		newRankCut(r).run(math.MaxInt)
	},
	"window, then blocks": func(r *Reduction) {
		r.window()
		newBlockSweeps(r).reduce()
	},
	"window, then chains": func(r *Reduction) {
		r.window()
		newChainSweeps(r).reduce()
	},
	"lengths, then search": func(r *Reduction) {
		r.label()
		newRankCut(r).run(math.MaxInt)
	},
	"window and lengths, then blocks": func(r *Reduction) {
		r.window()
		r.label()
		newBlockSweeps(r).reduce()
	},
	"window and lengths, then chains": func(r *Reduction) {
		r.window()
		r.label()
		newChainSweeps(r).reduce()
	},
	"the cheapest": func(r *Reduction) { copy(r.Redundant, r.Graph.Reduce().Redundant) },
}

// redundantBy returns the edges that one of the methods marks.
func (d *Graph) redundantBy(reduce func(*Reduction)) []bool {
	r := newReduction(d)
	reduce(r)
	return r.Redundant
}

func TestReductionsAgreeWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 10_000 {
		n := 1 + r.IntN(12)
		if round%40 == 0 {
			n = 1 + r.IntN(100) // more than the window sees
		}
		edges := densetest.RandomEdges(r, n, r.IntN(4*n), 1+r.IntN(n))
		want := densetest.Reduction(n, edges)
		d := NewGraph(n, edges)
		for name, reduce := range reductions {
			if !slices.Equal(want, d.Without(d.redundantBy(reduce)).Edges()) {
				t.Fatalf("round %d, %s, %d nodes: %v", round, name, n, edges)
			}
		}
	}
}

// More blocks than one, more chains than one sweep takes and floors above zero need
// more ranks than brute force can do; there the methods check each other.
func TestReductionMethodsAgreeAcrossSweeps(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, span := range []int{3, 40, 700, 3000} {
		for _, density := range []int{1, 2, 8} {
			n := 2000 + r.IntN(1500)
			d := NewGraph(n, densetest.RandomEdges(r, n, density*n, span))
			want := d.redundantBy(reductions["search"])
			for name, reduce := range reductions {
				require.True(t, slices.Equal(want, d.redundantBy(reduce)), "%s, span %d, density %d", name, span, density)
			}
		}
	}
}

// training returns a chain forwards and back, of width lanes. Each step back reads the result of its step forward.
// These edges are as long as the graph, and all but the innermost are redundant.
func training(n, lanes int) (edges []Edge) {
	for v := range int32(n) {
		if next := v + int32(lanes); next < int32(n) {
			edges = append(edges, Edge{v, next})
		}
		if twin := int32(n) - 1 - v; v+int32(lanes) < twin {
			edges = append(edges, Edge{v, twin})
		}
	}
	return edges
}

// Each of these graphs takes quadratic time with one or two of the methods. Their combination visits each edge a
// few times.
func TestReductionHasNoCliff(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges []Edge
	}{
		{"training", training(50_000, 1)},
		{"training on 64 lanes", training(50_000, 64)},
		{"complete layers", completeLayers(20_000, 16)},
		{"fan", fanEdges(50_000)},
	} {
		n := 1 + int(slices.MaxFunc(c.edges, func(a, b Edge) int { return cmp.Compare(a.To, b.To) }).To)
		d := NewGraph(n, c.edges)
		foretold := newReduction(d).cheapestSweeps().work()
		search := newRankCut(newReduction(d))
		search.run(min(foretold, 100*len(d.To)))
		assert.Less(t, min(foretold, search.work), 25*len(d.To), c.name)
	}
}

// Rows of hundreds of edges are searched for goals, from which the walk goes on.
func TestReductionWithHubs(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 33))
	for round := range densetest.Rounds(300) {
		n := 150 + r.IntN(150)
		edges := densetest.RandomEdges(r, n, r.IntN(n), 1+r.IntN(n))
		for range 3 {
			hub := r.IntN(n / 2)
			for v := hub + 1; v < n; v++ {
				if r.IntN(3) > 0 {
					edges = append(edges, Edge{int32(hub), int32(v)})
				}
			}
			for range 3 {
				edges = append(edges, Edge{int32(r.IntN(hub + 1)), int32(hub + 1)})
			}
		}
		d := NewGraph(n, edges)
		want := densetest.Reduction(n, edges)
		for name, reduce := range reductions {
			require.Equal(t, want, d.Without(d.redundantBy(reduce)).Edges(), "round %d, %s", round, name)
		}
	}
}

// Under a bound of work only redundant edges are dropped, and those that are kept for want of work
// are counted.
func TestBoundedReductionKeepsWhatItCannotDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	missed, decided := 0, 0
	for round := range 300 {
		n := 100 + r.IntN(300)
		d := NewGraph(n, densetest.RandomEdges(r, n, 6*n, n))
		exact := d.Reduce().Redundant
		bounded := d.reduceWithin(workBound{}, workBound{total: r.IntN(10 * len(d.To))})
		kept := 0
		for e := range exact {
			require.True(t, exact[e] || !bounded.Redundant[e], "round %d drops an edge that is needed", round)
			if exact[e] && !bounded.Redundant[e] {
				kept++
			}
		}
		require.LessOrEqual(t, kept, bounded.Undecided, "round %d", round)
		missed += kept
		if bounded.Undecided == 0 {
			decided++
		}
	}
	require.Greater(t, missed, 1000)
	require.Greater(t, decided, 10)
}

// Random graphs with edges of any length reach the bound of work. Layers, fork-joins and stencils of any size do not.
func TestBoundOfReduction(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 32))
	far := func(n int) *Graph { // each node after three of all before it
		var edges []Edge
		for v := 1; v < n; v++ {
			for range 3 {
				edges = append(edges, Edge{int32(r.IntN(v)), int32(v)})
			}
		}
		return NewGraph(n, edges)
	}
	require.Zero(t, far(10_000).Reduce().Undecided)
	if !testing.Short() {
		require.Positive(t, far(200_000).Reduce().Undecided)
	}
	near := NewGraph(100_000, densetest.RandomEdges(r, 100_000, 300_000, 1000))
	for _, d := range []*Graph{near, forkJoins(9000, 8), NewGraph(50_000, training(50_000, 64)), NewGraph(20_000, completeLayers(20_000, 64))} {
		require.Zero(t, d.Reduce().Undecided)
	}
}

// completeLayers has every node of a layer lead to all of the next two.
func completeLayers(n, width int) (edges []Edge) {
	for v := range n {
		next := v - v%width + width
		for w := next; w < min(n, next+2*width); w++ {
			edges = append(edges, Edge{int32(v), int32(w)})
		}
	}
	return edges
}

// fanEdges is a fork into n-2 nodes and their join, with an edge past them.
func fanEdges(n int) []Edge {
	edges := []Edge{{0, int32(n) - 1}}
	for v := int32(1); v < int32(n)-1; v++ {
		edges = append(edges, Edge{0, v}, Edge{v, int32(n) - 1})
	}
	return edges
}

// The published graphs, edge by edge: one is redundant if its end is met on a walk from any
// successor of its start. That is the definition, and takes V·E.
func TestReductionOfRealGraphs(t *testing.T) {
	for _, c := range densetest.Published {
		d := NewGraph(densetest.Load(t, c.Name))
		require.Equal(t, c.Nodes, d.Len(), c.Name)
		require.Len(t, d.To, c.Edges, c.Name)
		if testing.Short() && c.Nodes > 1000 {
			continue // V·E takes ten seconds under the race detector
		}
		want := make([]bool, len(d.To))
		for u := range int32(d.Len()) {
			beyond := d.metBeyond(u)
			for e := d.First[u]; e < d.First[u+1]; e++ {
				want[e] = beyond[d.To[e]]
			}
		}
		for name, reduce := range reductions {
			require.True(t, slices.Equal(want, d.redundantBy(reduce)), "%s, %s", c.Name, name)
		}
		assert.Len(t, d.Without(want).To, c.Reduced, c.Name)
	}
}

// metBeyond reports, by node, whether a path of two edges or more leads there from u.
func (d *Graph) metBeyond(u int32) []bool {
	met := make([]bool, d.Len())
	stack := slices.Clone(d.Succs(u))
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, w := range d.Succs(v) {
			if !met[w] {
				met[w] = true
				stack = append(stack, w)
			}
		}
	}
	return met
}

func BenchmarkReduction(b *testing.B) {
	for _, c := range densetest.Published {
		d := NewGraph(densetest.Load(b, c.Name))
		for _, name := range slices.Sorted(maps.Keys(reductions)) {
			b.Run(c.Name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					d.redundantBy(reductions[name])
				}
			})
		}
	}
	for _, span := range []int{16, 4096} {
		r := rand.New(rand.NewPCG(3, 3))
		const n = 1_000_000
		d := NewGraph(n, densetest.RandomEdges(r, n, 3*n, span))
		b.Run(fmt.Sprintf("random/ops=%d/span=%d", n, span), func(b *testing.B) {
			for b.Loop() {
				d.Reduce()
			}
		})
	}
	for _, lanes := range []int{1, 64} {
		d := NewGraph(1_000_000, training(1_000_000, lanes))
		b.Run(fmt.Sprintf("training/ops=%d/lanes=%d", d.Len(), lanes), func(b *testing.B) {
			for b.Loop() {
				d.Reduce()
			}
		})
	}
}
