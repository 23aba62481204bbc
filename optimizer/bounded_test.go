package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// No more lanes than asked for, no more waits than the theorem has for all the
// concurrency, and that schedule itself where the lanes are enough.
func TestBoundedNimble(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 53))
	for round := range rounds(10_000) {
		g := smallDAG(t, r)
		k := 1 + r.IntN(4)
		bounded := plan(t, g, fmt.Sprintf("nimble(%d)", k))
		s, free := bounded.Schedule, plan(t, g, "nimble").Schedule
		require.LessOrEqual(t, s.Lanes, k)
		require.LessOrEqual(t, s.Syncs(), len(bounded.Reduced.Deps())-bruteMatching(dagOf(bounded.Reduced)), "round %d", round)
		if free.Lanes <= k {
			require.Equal(t, free.Lane, s.Lane)
			require.Equal(t, free.Waits, s.Waits)
		}
	}
}

func TestBoundedNimbleOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 8, []edge{{0, 1}, {1, 2}, {3, 4}, {5, 6}, {6, 7}})
	res, err := Plan(g, Options{Strategy: "nimble(2)", Custom: idle(), Verify: true})
	require.NoError(t, err)
	assert.Equal(t, []ir.LaneID{0, 0, 0, 1, 1, 1, 1, 1}, res.Schedule.Lane)
	assert.Equal(t, int64(5000), res.Schedule.Predicted)
}

func TestBoundedNimbleOnRealGraphs(t *testing.T) {
	for _, c := range realDAGs {
		for _, k := range []int{1, 4} {
			s := plan(t, loadDAG(t, c.name), fmt.Sprintf("nimble(%d)", k)).Schedule
			assert.Equal(t, min(k, c.width), s.Lanes, c.name)
			assert.LessOrEqual(t, s.Syncs(), c.minSync, c.name)
		}
	}
}
