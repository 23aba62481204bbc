package optimizer

import (
	"fmt"
	"math/rand/v2"
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

func TestReductionsAgreeWithBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 400 {
		n := 1 + r.IntN(60)
		edges := randomEdges(r, n, r.IntN(4*n), 1+r.IntN(n))
		want := bruteReduction(n, edges)
		d := newDAG(n, edges)

		for name, budget := range map[string]int{"search": 1 << 40, "bitset": -1, "both": r.IntN(1 + len(edges))} {
			redundant := make([]bool, len(d.to))
			if !newRankCut(d, d.indegrees(), redundant).run(budget) {
				d.blockedReduction(d.indegrees(), redundant)
			}
			require.Equal(t, want, d.withoutEdges(redundant).edges(), "round %d, %s, %d nodes: %v", round, name, n, edges)
		}
	}
}

// Blocks beyond the first and floors above zero need more than 512 ranks, where
// brute force is too slow; there the two methods check each other.
func TestReductionMethodsAgreeAcrossBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, span := range []int{3, 40, 700, 3000} {
		for _, density := range []int{1, 2, 8} {
			n := 2000 + r.IntN(1500)
			d := newDAG(n, randomEdges(r, n, density*n, span))
			search, sweep := make([]bool, len(d.to)), make([]bool, len(d.to))
			require.True(t, newRankCut(d, d.indegrees(), search).run(1<<40))
			d.blockedReduction(d.indegrees(), sweep)
			require.Equal(t, search, sweep, "span %d, density %d", span, density)
			require.Equal(t, search, d.redundantEdges(), "span %d, density %d", span, density)
		}
	}
}

func TestReductionOfRealGraphs(t *testing.T) {
	for _, c := range realDAGs {
		d := dagOf(loadDAG(t, c.name))
		require.Equal(t, c.nodes, d.len(), c.name)
		require.Len(t, d.to, c.edges, c.name)
		assert.Len(t, d.withoutEdges(d.redundantEdges()).to, c.reduced, c.name)
	}
}

func BenchmarkReduction(b *testing.B) {
	for _, c := range realDAGs {
		d := dagOf(loadDAG(b, c.name))
		in := d.indegrees()
		b.Run(c.name+"/search", func(b *testing.B) {
			for b.Loop() {
				newRankCut(d, in, make([]bool, len(d.to))).run(1 << 60)
			}
		})
		b.Run(c.name+"/bitset", func(b *testing.B) {
			for b.Loop() {
				d.blockedReduction(in, make([]bool, len(d.to)))
			}
		})
		b.Run(c.name+"/both", func(b *testing.B) {
			for b.Loop() {
				d.redundantEdges()
			}
		})
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
}
