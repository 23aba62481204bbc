package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reaching returns for each node the nodes that reach it, over all paths.
func reaching(d *Preds) []map[int32]bool {
	reach := make([]map[int32]bool, d.len())
	for v := range reach {
		reach[v] = make(map[int32]bool)
		for _, u := range d.to(int32(v)) {
			reach[v][u] = true
			for w := range reach[u] {
				reach[v][w] = true
			}
		}
	}
	return reach
}

// TestImpliedAgreesWithClosure queries all pairs of nodes of random graphs that are wide
// enough to require several rounds of clocks.
func TestImpliedAgreesWithClosure(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		n, p := 1+r.IntN(90), r.Float64()*r.Float64()*0.3
		d := NewPreds(n, 0)
		for v := range n {
			for u := range v {
				if r.Float64() < p {
					d.Add(int32(u))
				}
			}
			d.EndRow()
		}
		reach := reaching(d)
		var queries []Edge
		var want []bool
		for v := range int32(n) {
			for u := range v {
				longer := false
				for _, w := range d.to(v) {
					longer = longer || w != u && reach[w][u]
				}
				queries, want = append(queries, Edge{u, v}), append(want, longer)
			}
		}
		r.Shuffle(len(queries), func(i, j int) {
			queries[i], queries[j] = queries[j], queries[i]
			want[i], want[j] = want[j], want[i]
		})
		require.Equal(t, want, d.Implied(queries), "seed %d", seed)
	}
}

func TestChainsArePathsThatCoverTheGraph(t *testing.T) {
	d := NewPreds(6, 0)
	for _, preds := range [][]int32{{}, {0}, {0}, {1, 2}, {3}, {3}} {
		d.Add(preds...)
		d.EndRow()
	}
	assert.Equal(t, []int32{0, 0, 1, 1, 1, 2}, d.chains())
}
