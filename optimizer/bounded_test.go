package optimizer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// No more lanes than asked for, and never a longer replay than round-robin or list scheduling on as
// many, in either form; and nimble's own schedule where the lanes are enough and it is as short.
func TestBoundedNimble(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 53))
	own, others := 0, 0
	for round := range densetest.Rounds(3000) {
		g := smallDAG(t, r)
		k := 1 + r.IntN(4)
		took := map[string]*ir.Schedule{}
		for _, name := range []string{"nimble", "nimble(k)", "roundrobin(k)", "listsched(k)"} {
			res, err := Plan(g, Options{Strategy: strings.Replace(name, "k", fmt.Sprint(k), 1), Streams: round%2 == 0, Verify: true})
			require.NoError(t, err)
			took[name] = res.Schedule
		}
		s, free := took["nimble(k)"], took["nimble"]
		require.LessOrEqual(t, s.Lanes, k)
		require.LessOrEqual(t, s.Predicted, took["roundrobin(k)"].Predicted, "round %d", round)
		require.LessOrEqual(t, s.Predicted, took["listsched(k)"].Predicted, "round %d", round)
		switch {
		case free.Lanes > k || s.Predicted < free.Predicted:
			others++
		default:
			own++
			require.Equal(t, free.Lane, s.Lane, "round %d", round)
			require.Equal(t, free.Waits, s.Waits, "round %d", round)
		}
	}
	require.Greater(t, own, densetest.Rounds(500))
	require.Greater(t, others, densetest.Rounds(500))
}

// Whole paths have no more waits than the theorem has for all the concurrency.
func TestWholePathsHaveFewWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 54))
	for round := range densetest.Rounds(10_000) {
		g := plan(t, smallDAG(t, r), "serial").Reduced
		k := 1 + r.IntN(4)
		s := scheduled(t, g, wholePaths{nimble{dense.MaxJoinBits, dense.MaxMergedChains}, k})
		require.LessOrEqual(t, s.Lanes, k)
		require.LessOrEqual(t, s.Syncs(), len(g.Deps())-densetest.Matching(g.Len(), dagOf(g).Edges()), "round %d", round)
	}
}

func TestBoundedNimbleOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 8, []edge{{0, 1}, {1, 2}, {3, 4}, {5, 6}, {6, 7}})
	reduced := plan(t, g, "serial").Reduced
	whole := scheduled(t, reduced, wholePaths{nimble{dense.MaxJoinBits, dense.MaxMergedChains}, 2})
	assert.Equal(t, []ir.LaneID{0, 0, 0, 1, 1, 1, 1, 1}, whole.Lane)
	require.NoError(t, predict(whole, &Options{Custom: idle()}))
	assert.Equal(t, int64(5000), whole.Predicted)
	res, err := Plan(g, Options{Strategy: "nimble(2)", Custom: idle(), Verify: true})
	require.NoError(t, err)
	assert.Equal(t, int64(4000), res.Schedule.Predicted)
}

func TestBoundedNimbleOnRealGraphs(t *testing.T) {
	for _, c := range densetest.Published {
		for _, k := range []int{1, 4} {
			g := loadDAG(t, c.Name)
			s := plan(t, g, fmt.Sprintf("nimble(%d)", k)).Schedule
			assert.LessOrEqual(t, s.Lanes, min(k, c.Width), c.Name)
			assert.LessOrEqual(t, s.Predicted, plan(t, g, fmt.Sprintf("roundrobin(%d)", k)).Schedule.Predicted, c.Name)
			whole := scheduled(t, plan(t, g, "serial").Reduced, wholePaths{nimble{dense.MaxJoinBits, dense.MaxMergedChains}, k})
			assert.LessOrEqual(t, whole.Syncs(), c.MinSync, c.Name)
		}
	}
}
