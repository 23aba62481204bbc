package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// Of two operations that a third waits for, the one that ends last is on its lane, whichever
// that is. Without the pass it is so for one of the two only, and for the other the third
// starts later by what an event takes longer than a stream.
func TestAJoinGoesOnWhereItWaitsLongest(t *testing.T) {
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	passes := []string{"hazards", "assign", "syncs", "order", "predict"}
	var without []int64
	for long := range ir.OpID(2) {
		micros := []int64{20, 20, 10}
		micros[long] = 100
		g := hostCalls(t, []edge{{0, 2}, {1, 2}}, micros...)
		before, err := Plan(g, Options{Streams: true, Verify: true, Passes: passes})
		require.NoError(t, err)
		after, err := Plan(g, Options{Streams: true, Verify: true, Passes: append(passes, "splice")})
		require.NoError(t, err)
		s := after.Schedule
		assert.Equal(t, s.Lane[long], s.Lane[2])
		assert.Equal(t, [][]ir.OpID{nil, nil, {1 - long}}, s.Waits)
		ends := p.Host.HostCall + p.SubmitLatency + 100*model.Microsecond + p.StreamGap + 10*model.Microsecond
		assert.Equal(t, int64(ends/model.Nanosecond), s.Predicted)
		without = append(without, before.Schedule.Predicted-s.Predicted)
	}
	assert.ElementsMatch(t, []int64{0, int64((p.EventGap - p.StreamGap) / model.Nanosecond)}, without)
}

// On random graphs splicing makes valid schedules on no more lanes and with no more waits,
// which order nothing more and are predicted to take no longer. A graph is left alone.
func TestSplicingOrdersNothingMore(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 24))
	sooner := 0
	for round := range 400 {
		g := irtest.Random(r, 1+r.IntN(40))
		for _, streams := range []bool{false, true} {
			opts := Options{Streams: streams, Passes: []string{"hazards", "reduce", "assign", "syncs", "fold", "order", "predict"}}
			before, err := Plan(g, opts)
			require.NoError(t, err)
			opts.Passes, opts.Verify = append(opts.Passes, "splice"), true
			after, err := Plan(g, opts)
			require.NoError(t, err)
			was, is := before.Schedule, after.Schedule
			if !streams {
				require.Equal(t, was, is, "round %d", round)
				continue
			}
			require.LessOrEqual(t, is.Predicted, was.Predicted, "round %d", round)
			require.LessOrEqual(t, is.Lanes, was.Lanes, "round %d", round)
			require.LessOrEqual(t, is.Syncs(), was.Syncs(), "round %d", round)
			old := ordered(was)
			for u, behind := range ordered(is) {
				for v := range behind {
					require.False(t, behind[v] && !old[u][v], "round %d: %%%d behind %%%d", round, v, u)
				}
			}
			if is.Predicted < was.Predicted {
				sooner++
			}
		}
	}
	require.Greater(t, sooner, 30, "splicing hardly ever mattered")
}
