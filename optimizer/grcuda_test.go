package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// The kernels of the published benchmarks, numbered as they are issued, and the streams
// that GrCUDA's own tests and paper report for them.
func TestGrCUDAUsesThePublishedStreams(t *testing.T) {
	for _, c := range []struct {
		name    string
		ops     int
		edges   []edge
		streams int
	}{
		{"VEC", 3, []edge{{0, 2}, {1, 2}}, 2},
		{"B&S", 10, nil, 10},
		{"IMG", 11, []edge{{0, 3}, {1, 4}, {4, 5}, {4, 6}, {4, 7}, {5, 7}, {6, 7}, {2, 8}, {1, 9}, {7, 9}, {8, 9}, {0, 10}, {3, 10}, {9, 10}}, 4},
		{"ML", 10, []edge{{0, 2}, {1, 3}, {1, 4}, {3, 4}, {2, 5}, {1, 6}, {3, 6}, {4, 6}, {6, 7}, {5, 8}, {7, 9}, {8, 9}}, 2},
		{"HITS", 12, []edge{
			{0, 2}, {1, 3}, {2, 4}, {1, 4}, {3, 5}, {0, 5},
			{4, 6}, {5, 6}, {4, 7}, {5, 7},
			{6, 8}, {7, 9}, {8, 10}, {7, 10}, {9, 11}, {6, 11}}, 2},
		{"DL", 8, []edge{{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 6}, {5, 6}, {6, 7}}, 2},
	} {
		assert.Equal(t, c.streams, plan(t, graphOf(t, c.name, c.ops, c.edges), "grcuda").Schedule.Lanes, c.name)
	}
}

func TestGrCUDAPoliciesOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 4, []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
	assert.Equal(t, []ir.LaneID{0, 0, 1, 0}, plan(t, g, "grcuda(disjoint)").Schedule.Lane)
	assert.Equal(t, []ir.LaneID{0, 0, 0, 0}, plan(t, g, "grcuda(same-as-parent)").Schedule.Lane)
}

// By the policy disjoint, neighbours on a lane are parent and child, and a lane begins
// where all parents' lanes are continued by others. By the other one, there is a lane
// for each operation without parents.
func TestGrCUDAFollowsParents(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 32))
	for range 300 {
		n := 1 + r.IntN(40)
		edges := densetest.Reduction(n, densetest.RandomEdges(r, n, r.IntN(3*n), 1+r.IntN(n)))
		g := graphOf(t, "random", n, edges)
		child := slices.Repeat([]int{-1}, n)
		begins := make([]bool, n)
		last := map[ir.LaneID]int{}
		disjoint := plan(t, g, "grcuda").Schedule
		for v, l := range disjoint.Lane {
			u, seen := last[l]
			if begins[v] = !seen; seen {
				require.Contains(t, edges, edge{int32(u), int32(v)})
				child[u] = v
			}
			last[l] = v
		}
		roots := n
		for v := range n {
			parents := 0
			for _, e := range edges {
				if int(e.To) == v {
					parents++
					if begins[v] {
						require.True(t, 0 <= child[e.From] && child[e.From] < v, "%d might have followed %d", v, e.From)
					}
				}
			}
			if parents > 0 {
				roots--
			}
		}
		require.Equal(t, roots, plan(t, g, "grcuda(same-as-parent)").Schedule.Lanes)
	}
}

// A graph that has not been reduced has the same parents.
func TestGrCUDAWithoutReduce(t *testing.T) {
	g := graphOf(t, "triangle", 3, []edge{{0, 1}, {0, 2}, {1, 2}})
	a, err := grcuda{}.assign(g, nil)
	require.NoError(t, err)
	assert.Equal(t, []ir.LaneID{0, 0, 0}, a.lane)
}
