package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/multi"
)

// The reference is gonum's implementation of the algorithm of Lengauer and Tarjan.
func TestDominatorsAgreeWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 62))
	unreached := 0
	for round := range 3000 {
		n := 1 + r.IntN(14)
		succs := make([][]int32, n)
		g := multi.NewDirectedGraph() // has loops and repeated edges
		for v := range n {
			g.AddNode(multi.Node(v))
		}
		for range r.IntN(3 * n) {
			u, v := r.IntN(n), r.IntN(n)
			succs[u] = append(succs[u], int32(v))
			if u != v {
				g.SetLine(g.NewLine(multi.Node(u), multi.Node(v)))
			}
		}
		tree := flow.Dominators(multi.Node(0), g)
		reached := map[int32]bool{}
		for _, v := range ReversePostOrder(0, succs) {
			reached[v] = true
		}
		for v, got := range Dominators(0, succs) {
			want := int32(-1)
			if d := tree.DominatorOf(int64(v)); d != nil && v != 0 {
				want = int32(d.ID())
			}
			require.Equal(t, want, got, "round %d, node %d of %v", round, v, succs)
			require.Equal(t, reached[int32(v)], got >= 0 || v == 0)
			if !reached[int32(v)] {
				unreached++
			}
		}
	}
	require.Positive(t, unreached)
}

// Every node of a reverse post-order but the root comes after one of its predecessors, and in an
// acyclic graph after all of them.
func TestReversePostOrderIsTopological(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 63))
	for range 300 {
		n := 1 + r.IntN(30)
		succs := make([][]int32, n)
		for u := range n {
			for v := u + 1; v < n; v++ {
				if r.IntN(4) == 0 {
					succs[u] = append(succs[u], int32(v))
				}
			}
		}
		order := ReversePostOrder(0, succs)
		place := make(map[int32]int, n)
		for i, v := range order {
			place[v] = i
		}
		for _, u := range order {
			for _, v := range succs[u] {
				require.Less(t, place[u], place[v])
			}
		}
		for v, us := range Reversed(succs) {
			for _, u := range us {
				require.Contains(t, succs[u], int32(v))
			}
		}
	}
}
