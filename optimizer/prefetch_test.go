package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// Dealt out to two lanes, a copy lies behind a launch that waits for the other lane, and
// could be made meanwhile.
const copyBehindAWait = `
graph late {
  module m "m.ptx"
  buffer @h f32[1000000] pinned input
  buffer @x f32[1000000] device(0) temporary
  buffer @a f32[1000000] device(0) inout
  buffer @b f32[1000000] device(0) inout
  buffer @c f32[1000000] device(0) inout
  %0 = launch m.a grid(1000) block(256) args(@a) uses(readwrite @a) cost(300us)
  %1 = launch m.b grid(1000) block(256) args(@a, @b) uses(read @a, readwrite @b) cost(100us)
  %2 = launch m.c grid(1000) block(256) args(@c) uses(readwrite @c) cost(50us)
  %3 = copy @h -> @x
  %4 = launch m.d grid(1000) block(256) args(@c) uses(readwrite @c) cost(50us)
  %5 = launch m.e grid(1000) block(256) args(@x, @b) uses(read @x, readwrite @b) cost(100us)
}
`

func TestPrefetchBringsACopyInFrontOfAWait(t *testing.T) {
	f, err := ir.Load("late.rir", copyBehindAWait)
	require.NoError(t, err)
	passes := []string{"hazards", "reduce", "assign", "syncs", "predict"}
	for _, streams := range []bool{false, true} {
		opts := Options{Strategy: "roundrobin(2)", Streams: streams, Passes: passes, Verify: true}
		late, err := Plan(f.Graph, opts)
		require.NoError(t, err)
		opts.Also = []string{"prefetch"}
		early, err := Plan(f.Graph, opts)
		require.NoError(t, err)
		assert.Equal(t, ir.OpID(3), early.Schedule.Order[0])
		assert.Less(t, early.Schedule.Predicted, late.Schedule.Predicted-50_000, "the copy of 4 MB takes 70 us")
	}
}

// No plan is predicted to take longer with the pass than without it.
func TestPrefetchNeverCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 61))
	quicker := 0
	for range 150 {
		g := irtest.Random(r, 1+r.IntN(40))
		for _, strategy := range []string{"serial", "roundrobin(2)", "levels(3)", "nimble"} {
			opts := Options{Strategy: strategy, Streams: r.IntN(2) == 0, Passes: []string{"hazards", "reduce", "assign", "syncs", "predict"}, Verify: true}
			late, err := Plan(g, opts)
			require.NoError(t, err)
			opts.Also = []string{"prefetch"}
			early, err := Plan(g, opts)
			require.NoError(t, err)
			require.LessOrEqual(t, early.Schedule.Predicted, late.Schedule.Predicted)
			require.Equal(t, late.Schedule.Lanes, early.Schedule.Lanes)
			if early.Schedule.Predicted < late.Schedule.Predicted {
				quicker++
			}
		}
	}
	assert.Greater(t, quicker, 20)
}
