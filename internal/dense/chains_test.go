package dense

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// From single nodes the merge is Dilworth's chain partition itself, so its
// optimum is known.
func TestMergeOfSingleNodesGivesTheWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + r.IntN(60)
		edges := densetest.RandomEdges(r, n, r.IntN(3*n), n)
		d := NewGraph(n, edges)
		require.Len(t, mergeChains(d, singles(n), MaxMergedChains), densetest.Width(n, edges))
	}
}

func singles(n int) []Chain {
	chains := make([]Chain, n)
	for v := range chains {
		chains[v] = Chain{int32(v)}
	}
	return chains
}

// Above the limit the result may have more chains than needed, but it is still a partition into
// chains, and no chain can follow another any more.
func TestMergeBeyondTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	searched, best := 0, 0
	for range 40 {
		n := 1 + r.IntN(150)
		edges := densetest.RandomEdges(r, n, r.IntN(3*n), 1+r.IntN(n))
		reach := densetest.Closure(n, edges)
		for _, limit := range []int{0, 7, 50, n} {
			chains := mergeChains(NewGraph(n, edges), singles(n), limit)
			requireChains(t, n, chains, reach)
			for i, c := range chains {
				require.True(t, i == 0 || chains[i-1].Head() < c.Head())
				for _, next := range chains {
					require.False(t, reach[c.Tail()][next.Head()], "%v can follow %v", next, c)
				}
			}
			if limit == 0 {
				searched += len(chains)
			}
		}
		best += densetest.Width(n, edges)
	}
	require.GreaterOrEqual(t, searched, best)
	require.Less(t, searched, best*11/10)
}

// requireChains checks that chains partition the nodes, and that each reaches the next.
func requireChains(t *testing.T, n int, chains []Chain, reach [][]bool) {
	t.Helper()
	seen := make([]bool, n)
	for _, c := range chains {
		for i, v := range c {
			require.False(t, seen[v])
			seen[v] = true
			require.True(t, i == 0 || reach[c[i-1]][v])
		}
	}
	require.NotContains(t, seen, false)
}

// forkJoins returns the graph of several fork-joins of one width, one after another.
func forkJoins(width, count int) *Graph {
	last := int32(0)
	var edges []Edge
	for range count {
		join := last + int32(width) + 1
		for v := last + 1; v < join; v++ {
			edges = append(edges, Edge{last, v}, Edge{v, join})
		}
		last = join
	}
	return NewGraph(int(last)+1, edges)
}

// Fork-joins of every width come to the width, on both sides of what is matched, with a few
// looks at each edge. The search used to be rounds of matchings: 8300 wide, they took 89 s.
func TestMergeOfForkJoins(t *testing.T) {
	for _, width := range []int{1, 2, 100, 8000, 8191, 8192, 8193, 8300, 20_000} {
		d := forkJoins(width, 4)
		require.Len(t, ChainPartition(d, MaxJoinBits, MaxMergedChains), width)
		s := newChainSearch(d, MaximumMatching(d.Rows).Chains())
		before := s.looks
		require.Len(t, s.join(), width)
		require.Less(t, before-s.looks, 4*(d.Len()+len(d.To)), "width %d", width)
	}
}

// A tail that is far back is found over a long chain of single predecessors again and again.
func TestSearchSkipsSinglePredecessors(t *testing.T) {
	const tails, length = 1000, 3000
	var edges []Edge
	for v := range int32(tails) { // all lead to the chain's first node
		edges = append(edges, Edge{v, tails})
	}
	n := int32(tails)
	var chains []Chain
	for v := range int32(tails) {
		chains = append(chains, Chain{v})
	}
	long := Chain{n}
	for range length { // each of whose nodes has one more successor
		edges = append(edges, Edge{n, n + 1}, Edge{n, n + 2})
		chains = append(chains, Chain{n + 1})
		long = append(long, n+2)
		n += 2
	}
	chains = append(chains, long)
	slices.SortFunc(chains, func(a, b Chain) int { return cmp.Compare(a.Head(), b.Head()) })
	d := NewGraph(int(n)+1, edges)
	s := newChainSearch(d, chains)
	before := s.looks
	require.Len(t, s.join(), length+1)
	require.Less(t, before-s.looks, 8*(d.Len()+len(d.To)))
}

// Heads that are reached beyond the bound of work begin lanes of their own.
func TestSearchIsBounded(t *testing.T) {
	d := forkJoins(100, 10)
	paths := MaximumMatching(d.Rows).Chains()
	s := newChainSearch(d, paths)
	s.looks = 500
	chains := s.join()
	require.Greater(t, len(chains), 100)
	require.Less(t, len(chains), len(paths))
}
