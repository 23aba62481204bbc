package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

func TestListSchedulingOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 5, []edge{{0, 1}, {1, 4}, {2, 3}, {3, 4}})
	for v, cost := range []int64{2, 2, 1, 2, 1} {
		g.Ops[v].Cost = cost * 1000
	}
	res, err := Plan(g, Options{Strategy: "listsched(2)", Custom: idle(), Verify: true})
	require.NoError(t, err)
	s := res.Schedule
	assert.Equal(t, []ir.LaneID{0, 0, 1, 1, 0}, s.Lane)
	assert.Equal(t, []ir.OpID{0, 2, 3, 1, 4}, s.Order)
	assert.Equal(t, int64(5000), s.Predicted)
}

// Graham's bound, which holds for every list scheduling on k equal machines: no more than
// work/k + (1 - 1/k) critical path. With a lane for each, nothing but the path is left.
func TestListSchedulingKeepsGrahamsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 52))
	for round := range densetest.Rounds(10_000) {
		g := smallDAG(t, r)
		work := int64(0)
		for v := range g.Ops {
			work += g.Ops[v].Cost
		}
		path := criticalPath(g)
		k := int64(1 + r.IntN(4))
		res, err := Plan(g, Options{Strategy: fmt.Sprintf("listsched(%d)", k), Custom: idle()})
		require.NoError(t, err)
		require.LessOrEqual(t, res.Schedule.Lanes, int(k))
		require.LessOrEqual(t, k*res.Schedule.Predicted, work+(k-1)*path, "round %d, %d lanes", round, k)
		if k == 1 {
			require.Equal(t, work, res.Schedule.Predicted)
		}
		res, err = Plan(g, Options{Strategy: "listsched(12)", Custom: idle()})
		require.NoError(t, err)
		require.Equal(t, path, res.Schedule.Predicted)
	}
}

// Two copies to the device, of which more depends on both than on the one back, and two
// lanes: the second waits for the engine in any case, and the copy back does not.
func TestListSchedulingPassesOverABusyEngine(t *testing.T) {
	f, err := ir.Parse("", `graph g {
  buffer @h u8[3000000] pinned input
  buffer @r u8[1000000] pinned output
  buffer @d u8[3000000] device(0)
  %0 = copy @h[0:1000000] -> @d[0:1000000]
  %1 = copy @h[1000000:2000000] -> @d[1000000:2000000]
  %2 = copy @d[2000000:3000000] -> @r
  %3 = empty after(%0, %1) cost(1ms)
}`)
	require.NoError(t, err)
	res, err := Plan(f.Graph, Options{Strategy: "listsched(2)", Passes: []string{"hazards", "reduce", "assign", "syncs", "predict"}, Verify: true})
	require.NoError(t, err)
	assert.Equal(t, []ir.OpID{0, 2}, res.Schedule.Order[:2])
	assert.Equal(t, []ir.LaneID{0, 1}, []ir.LaneID{res.Schedule.Lane[0], res.Schedule.Lane[2]})
}
