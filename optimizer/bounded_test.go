package optimizer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// No more lanes than asked for, and never a longer replay than round-robin or list scheduling on as
// many, in either form; and nimble's own schedule where the lanes are enough and it is as short.
func TestBoundedNimble(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 53))
	own, others := 0, 0
	for round := range rounds(3000) {
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
	require.Greater(t, own, rounds(500))
	require.Greater(t, others, rounds(500))
}

// Whole paths have no more waits than the theorem has for all the concurrency.
func TestWholePathsHaveFewWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 54))
	for round := range rounds(10_000) {
		g := plan(t, smallDAG(t, r), "serial").Reduced
		k := 1 + r.IntN(4)
		s := scheduled(t, g, wholePaths{nimble{maxJoinBits, maxMergedChains}, k})
		require.LessOrEqual(t, s.Lanes, k)
		require.LessOrEqual(t, s.Syncs(), len(g.Deps())-bruteMatching(dagOf(g)), "round %d", round)
	}
}

func TestBoundedNimbleOfTheDrawing(t *testing.T) {
	g := graphOf(t, "drawing", 8, []edge{{0, 1}, {1, 2}, {3, 4}, {5, 6}, {6, 7}})
	reduced := plan(t, g, "serial").Reduced
	whole := scheduled(t, reduced, wholePaths{nimble{maxJoinBits, maxMergedChains}, 2})
	assert.Equal(t, []ir.LaneID{0, 0, 0, 1, 1, 1, 1, 1}, whole.Lane)
	require.NoError(t, predict(whole, &Options{Custom: idle()}))
	assert.Equal(t, int64(5000), whole.Predicted)
	res, err := Plan(g, Options{Strategy: "nimble(2)", Custom: idle(), Verify: true})
	require.NoError(t, err)
	assert.Equal(t, int64(4000), res.Schedule.Predicted)
}

func TestBoundedNimbleOnRealGraphs(t *testing.T) {
	for _, c := range realDAGs {
		for _, k := range []int{1, 4} {
			g := loadDAG(t, c.name)
			s := plan(t, g, fmt.Sprintf("nimble(%d)", k)).Schedule
			assert.LessOrEqual(t, s.Lanes, min(k, c.width), c.name)
			assert.LessOrEqual(t, s.Predicted, plan(t, g, fmt.Sprintf("roundrobin(%d)", k)).Schedule.Predicted, c.name)
			whole := scheduled(t, plan(t, g, "serial").Reduced, wholePaths{nimble{maxJoinBits, maxMergedChains}, k})
			assert.LessOrEqual(t, whole.Syncs(), c.minSync, c.name)
		}
	}
}
