package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

func TestLevelsOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 5, []edge{{0, 2}, {2, 4}, {1, 3}, {3, 4}})
	s := plan(t, g, "levels").Schedule
	assert.Equal(t, []ir.LaneID{0, 1, 0, 1, 0}, s.Lane)
	assert.Equal(t, 1, s.Syncs())
}

// depths are the lengths of the longest paths to each operation, from every path
// there is by doubling: n rounds of relaxing all edges.
func depths(n int, edges []edge) []int {
	depth := make([]int, n)
	for range n {
		for _, e := range edges {
			depth[e.To] = max(depth[e.To], depth[e.From]+1)
		}
	}
	return depth
}

// Nobody shares a lane with an operation of the same level unless the lanes are
// fewer than the level is wide, and then all lanes have the same share of it.
func TestLevelsAreSpreadOverLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	for range 300 {
		n := 1 + r.IntN(40)
		edges := densetest.RandomEdges(r, n, r.IntN(3*n), 1+r.IntN(n))
		g := plan(t, graphOf(t, "random", n, edges), "serial").Reduced
		for _, k := range []int{0, 1, 2, 3} {
			s := scheduled(t, g, levels{k})
			shares := map[int][]int{}
			for v, at := range depths(n, edges) {
				if shares[at] == nil {
					shares[at] = make([]int, s.Lanes)
				}
				shares[at][s.Lane[v]]++
			}
			widest := 0
			for at, share := range shares {
				total, most := 0, 0
				for _, c := range share {
					total, most = total+c, max(most, c)
				}
				bound := k
				if k == 0 {
					bound = n
				}
				require.Equal(t, (total+bound-1)/bound, most, "level %d on %d lanes", at, k)
				widest = max(widest, min(total, bound))
			}
			require.Equal(t, widest, s.Lanes)
		}
	}
}
