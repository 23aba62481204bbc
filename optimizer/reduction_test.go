package optimizer

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
)

// closure is reachability by brute force: closure[u][v] when a path of at least
// one edge runs from u to v.
func closure(n int, edges []edge) [][]bool {
	reach := make([][]bool, n)
	for u := range reach {
		reach[u] = make([]bool, n)
	}
	for _, e := range edges {
		reach[e.from][e.to] = true
	}
	for k := range n {
		for u := range k { // edges run up, so only lower ranks reach k
			if reach[u][k] {
				for v := k + 1; v < n; v++ {
					reach[u][v] = reach[u][v] || reach[k][v]
				}
			}
		}
	}
	return reach
}

// bruteReduction keeps the edges with no node between their ends.
func bruteReduction(n int, edges []edge) []edge {
	reach := closure(n, edges)
	between := func(e edge) bool {
		for k := e.from + 1; k < e.to; k++ {
			if reach[e.from][k] && reach[k][e.to] {
				return true
			}
		}
		return false
	}
	var kept []edge
	for _, e := range newDAG(n, edges).edges() {
		if !between(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// edges lists the edges in order of their index.
func (d *dag) edges() []edge {
	var list []edge
	for u := range int32(d.len()) {
		for _, v := range d.succs(u) {
			list = append(list, edge{u, v})
		}
	}
	return list
}

// randomEdges draws m edges over n ranks, none longer than span; some repeat.
func randomEdges(r *rand.Rand, n, m, span int) []edge {
	var edges []edge
	for range m {
		u := r.IntN(n)
		if v := u + 1 + r.IntN(span); v < n {
			edges = append(edges, edge{int32(u), int32(v)})
		}
	}
	return edges
}

// reductions are the methods, each on its own and one taking over from another.
var reductions = map[string]func(*reduction){
	"search": func(r *reduction) { newRankCut(r).run(math.MaxInt) },
	"blocks": func(r *reduction) { newBlockSweeps(r).reduce() },
	"chains": func(r *reduction) { newChainSweeps(r).reduce() },
	"search, then blocks": func(r *reduction) {
		newRankCut(r).run(len(r.d.to) / 2)
		newBlockSweeps(r).reduce()
	},
	"search, stopped once, then chains": func(r *reduction) {
		s := newRankCut(r)
		s.run(len(r.d.to) / 4)
		s.run(len(r.d.to) / 2)
		newChainSweeps(r).reduce()
	},
	"window, then search": func(r *reduction) {
		r.window()
		newRankCut(r).run(math.MaxInt)
	},
	"window, then blocks": func(r *reduction) {
		r.window()
		newBlockSweeps(r).reduce()
	},
	"window, then chains": func(r *reduction) {
		r.window()
		newChainSweeps(r).reduce()
	},
	"lengths, then search": func(r *reduction) {
		r.label()
		newRankCut(r).run(math.MaxInt)
	},
	"window and lengths, then blocks": func(r *reduction) {
		r.window()
		r.label()
		newBlockSweeps(r).reduce()
	},
	"window and lengths, then chains": func(r *reduction) {
		r.window()
		r.label()
		newChainSweeps(r).reduce()
	},
	"the cheapest": func(r *reduction) { copy(r.redundant, r.d.redundantEdges()) },
}

// redundantBy is what one of them marks.
func (d *dag) redundantBy(reduce func(*reduction)) []bool {
	r := newReduction(d)
	reduce(r)
	return r.redundant
}

func TestReductionsAgreeWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 10_000 {
		n := 1 + r.IntN(12)
		if round%40 == 0 {
			n = 1 + r.IntN(100) // more than the window sees
		}
		edges := randomEdges(r, n, r.IntN(4*n), 1+r.IntN(n))
		want := bruteReduction(n, edges)
		d := newDAG(n, edges)
		for name, reduce := range reductions {
			if !slices.Equal(want, d.withoutEdges(d.redundantBy(reduce)).edges()) {
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
			d := newDAG(n, randomEdges(r, n, density*n, span))
			want := d.redundantBy(reductions["search"])
			for name, reduce := range reductions {
				require.True(t, slices.Equal(want, d.redundantBy(reduce)), "%s, span %d, density %d", name, span, density)
			}
		}
	}
}

// training is a chain forwards and back, as wide as lanes, in which each step back
// reads what its step forward left: edges as long as the graph, all of them redundant
// but the innermost.
func training(n, lanes int) (edges []edge) {
	for v := range int32(n) {
		if next := v + int32(lanes); next < int32(n) {
			edges = append(edges, edge{v, next})
		}
		if twin := int32(n) - 1 - v; v+int32(lanes) < twin {
			edges = append(edges, edge{v, twin})
		}
	}
	return edges
}

// Each of these is quadratic for one method or two. What is done in the end looks at
// each edge a few times.
func TestReductionHasNoCliff(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges []edge
	}{
		{"training", training(50_000, 1)},
		{"training on 64 lanes", training(50_000, 64)},
		{"complete layers", completeLayers(20_000, 16)},
		{"fan", fanEdges(50_000)},
	} {
		n := 1 + int(slices.MaxFunc(c.edges, func(a, b edge) int { return cmp.Compare(a.to, b.to) }).to)
		d := newDAG(n, c.edges)
		foretold := newReduction(d).cheapestSweeps().work()
		search := newRankCut(newReduction(d))
		search.run(min(foretold, 100*len(d.to)))
		assert.Less(t, min(foretold, search.work), 25*len(d.to), c.name)
	}
}

// Rows of hundreds of edges are searched for goals, from which the walk goes on.
func TestReductionWithHubs(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 33))
	for round := range rounds(300) {
		n := 150 + r.IntN(150)
		edges := randomEdges(r, n, r.IntN(n), 1+r.IntN(n))
		for range 3 {
			hub := r.IntN(n / 2)
			for v := hub + 1; v < n; v++ {
				if r.IntN(3) > 0 {
					edges = append(edges, edge{int32(hub), int32(v)})
				}
			}
			for range 3 {
				edges = append(edges, edge{int32(r.IntN(hub + 1)), int32(hub + 1)})
			}
		}
		d := newDAG(n, edges)
		want := bruteReduction(n, edges)
		for name, reduce := range reductions {
			require.Equal(t, want, d.withoutEdges(d.redundantBy(reduce)).edges(), "round %d, %s", round, name)
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
		d := newDAG(n, randomEdges(r, n, 6*n, n))
		exact := d.redundantEdges()
		bounded := d.reduceWithin(workBound{}, workBound{total: r.IntN(10 * len(d.to))})
		kept := 0
		for e := range exact {
			require.True(t, exact[e] || !bounded.redundant[e], "round %d drops an edge that is needed", round)
			if exact[e] && !bounded.redundant[e] {
				kept++
			}
		}
		require.LessOrEqual(t, kept, bounded.undecided, "round %d", round)
		missed += kept
		if bounded.undecided == 0 {
			decided++
		}
	}
	require.Greater(t, missed, 1000)
	require.Greater(t, decided, 10)
}

// Random edges that reach anywhere are the case for the bound, and layers, fork-joins and stencils of
// any size are not.
func TestBoundOfReduction(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 32))
	far := func(n int) *dag { // each node after three of all before it
		var edges []edge
		for v := 1; v < n; v++ {
			for range 3 {
				edges = append(edges, edge{int32(r.IntN(v)), int32(v)})
			}
		}
		return newDAG(n, edges)
	}
	require.Zero(t, far(10_000).reduce().undecided)
	if !testing.Short() {
		require.Positive(t, far(200_000).reduce().undecided)
	}
	near := newDAG(100_000, randomEdges(r, 100_000, 300_000, 1000))
	for _, d := range []*dag{near, forkJoins(9000, 8), newDAG(50_000, training(50_000, 64)), newDAG(20_000, completeLayers(20_000, 64))} {
		require.Zero(t, d.reduce().undecided)
	}
}

// completeLayers has every node of a layer lead to all of the next two.
func completeLayers(n, width int) (edges []edge) {
	for v := range n {
		next := v - v%width + width
		for w := next; w < min(n, next+2*width); w++ {
			edges = append(edges, edge{int32(v), int32(w)})
		}
	}
	return edges
}

// fanEdges is a fork into n-2 nodes and their join, with an edge past them.
func fanEdges(n int) []edge {
	edges := []edge{{0, int32(n) - 1}}
	for v := int32(1); v < int32(n)-1; v++ {
		edges = append(edges, edge{0, v}, edge{v, int32(n) - 1})
	}
	return edges
}

// The published graphs, edge by edge: one is redundant if its end is met on a walk from any
// successor of its start. That is the definition, and takes V·E.
func TestReductionOfRealGraphs(t *testing.T) {
	for _, c := range realDAGs {
		d := dagOf(loadDAG(t, c.name))
		require.Equal(t, c.nodes, d.len(), c.name)
		require.Len(t, d.to, c.edges, c.name)
		if testing.Short() && c.nodes > 1000 {
			continue // V·E takes ten seconds under the race detector
		}
		want := make([]bool, len(d.to))
		for u := range int32(d.len()) {
			beyond := d.metBeyond(u)
			for e := d.first[u]; e < d.first[u+1]; e++ {
				want[e] = beyond[d.to[e]]
			}
		}
		for name, reduce := range reductions {
			require.True(t, slices.Equal(want, d.redundantBy(reduce)), "%s, %s", c.name, name)
		}
		assert.Len(t, d.withoutEdges(want).to, c.reduced, c.name)
	}
}

// metBeyond reports, by node, whether a path of two edges or more leads there from u.
func (d *dag) metBeyond(u int32) []bool {
	met := make([]bool, d.len())
	stack := slices.Clone(d.succs(u))
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, w := range d.succs(v) {
			if !met[w] {
				met[w] = true
				stack = append(stack, w)
			}
		}
	}
	return met
}

func BenchmarkReduction(b *testing.B) {
	for _, c := range realDAGs {
		d := dagOf(loadDAG(b, c.name))
		for _, name := range slices.Sorted(maps.Keys(reductions)) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					d.redundantBy(reductions[name])
				}
			})
		}
	}
	for _, span := range []int{16, 4096} {
		r := rand.New(rand.NewPCG(3, 3))
		const n = 1_000_000
		d := newDAG(n, randomEdges(r, n, 3*n, span))
		b.Run(fmt.Sprintf("random/ops=%d/span=%d", n, span), func(b *testing.B) {
			for b.Loop() {
				d.redundantEdges()
			}
		})
	}
	for _, lanes := range []int{1, 64} {
		d := newDAG(1_000_000, training(1_000_000, lanes))
		b.Run(fmt.Sprintf("training/ops=%d/lanes=%d", d.len(), lanes), func(b *testing.B) {
			for b.Loop() {
				d.redundantEdges()
			}
		})
	}
}
