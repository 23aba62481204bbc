package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// crowd returns a graph of launches and their demands.
func crowd(t *testing.T, n int, edges []edge, demand func(v int) model.Demand) (*ir.Graph, CostModel) {
	g := graphOf(t, "crowd", n, edges)
	g.Modules = []ir.Module{{Name: "m", File: "m.ptx"}}
	counted := map[ir.OpID]model.Demand{}
	for v := range g.Ops {
		g.Ops[v].Kind, g.Ops[v].Cost = ir.KindLaunch, -1
		g.Ops[v].Launch = &ir.Launch{Entry: "k", Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 1, Y: 1, Z: 1}}
		counted[ir.OpID(v)] = demand(v)
	}
	return g, measuredCosts{counted: counted, declared: newDeclaredCosts(profiles.All()[0]), profile: profiles.All()[0]}
}

// Counted by hand on a device without gaps: 2, 3, 2, 4 and 1 us of one block each.
func TestSlack(t *testing.T) {
	p := idle()
	p.SMs, p.MaxKernels = 8, 8
	us := []float64{2, 3, 2, 4, 1}
	g, costs := crowd(t, 5, []edge{{0, 1}, {1, 2}, {2, 4}, {3, 4}}, func(v int) model.Demand {
		return model.Demand{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 1000 * us[v]}
	})
	res, err := Plan(g, Options{Custom: p, Costs: costs})
	require.NoError(t, err)
	f := &forecast{profile: p, costs: costs}
	slack := f.slack(res.Schedule)
	assert.Equal(t, []model.Time{0, 0, 0, 3 * model.Microsecond, 0}, slack)
	assert.Equal(t, []int32{-1, -1, -1, 0, -1}, bySlack(g, slack, 2))
	assert.Equal(t, []int32{-5, -5, -5, 0, -5}, bySlack(g, slack, 6))
	assert.Equal(t, []int32{-5, -4, -3, 0, 0}, bySlack(g, []model.Time{0, 1, 30, 99, 100}, 6))
	g.Ops[0].Launch = nil
	assert.Equal(t, []int32{0, -5, -5, 0, -5}, bySlack(g, slack, 6), "only launches have priorities")
}

// TestTheLongestPathGetsMultiprocessorsFirst has four waves of blocks without dependents, followed by a chain of small
// launches. With priority, the chain waits for at most one wave.
func TestTheLongestPathGetsMultiprocessorsFirst(t *testing.T) {
	p := idle()
	p.MaxKernels = 8
	g, costs := crowd(t, 4, []edge{{1, 2}, {2, 3}}, func(v int) model.Demand {
		d := model.Demand{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 2000} // 2 us
		if v == 0 {
			d.Blocks, d.BlockCycles = 4, 1000 // 1 us each
		}
		return d
	})
	for _, streams := range []bool{false, true} {
		opts := Options{Custom: p, Costs: costs, Streams: streams, Passes: []string{"hazards", "assign", "syncs", "predict"}}
		without, err := Plan(g, opts)
		require.NoError(t, err)
		require.EqualValues(t, 10_000, without.Schedule.Predicted)
		opts.Passes = append(opts.Passes, "priorities")
		with, err := Plan(g, opts)
		require.NoError(t, err)
		require.EqualValues(t, 10_000, with.Schedule.Predicted, "one multiprocessor is always at work")
		require.Nil(t, with.Schedule.Priority, "nothing gained, nothing changed")
	}

	// On two, what fills both for two waves delays a chain by as much.
	p.SMs = 2
	without, err := Plan(g, Options{Custom: p, Costs: costs})
	require.NoError(t, err)
	with, err := Plan(g, Options{Custom: p, Costs: costs, Also: []string{"priorities"}, Verify: true})
	require.NoError(t, err)
	require.EqualValues(t, 2_000+6_000, without.Schedule.Predicted)
	require.EqualValues(t, 6_000, with.Schedule.Predicted)
	require.Equal(t, []int32{0, -1, -1, -1}, with.Schedule.Priority)
}

// On random programs of launches that crowd each other out, priorities change neither lanes
// nor waits, are predicted to make a replay no longer, and often make it shorter.
func TestPrioritiesNeverTakeLonger(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	sooner := 0
	for round := range 300 {
		n := 2 + r.IntN(30)
		g, costs := crowd(t, n, densetest.RandomEdges(r, n, r.IntN(2*n), n), func(int) model.Demand {
			return model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(3000)), PerSM: float64(1 + r.IntN(4)), BlockCycles: float64(1000 * (1 + r.IntN(30)))}
		})
		for _, streams := range []bool{false, true} {
			opts := Options{Costs: costs, Streams: streams, Passes: []string{"hazards", "assign", "syncs", "predict"}} // fold would merge the lanes of a crowd
			before, err := Plan(g, opts)
			require.NoError(t, err)
			opts.Passes = append(opts.Passes, "priorities")
			after, err := Plan(g, opts)
			require.NoError(t, err)
			was, is := *before.Schedule, *after.Schedule
			require.LessOrEqual(t, is.Predicted, was.Predicted, "round %d", round)
			if is.Predicted < was.Predicted {
				sooner++
			}
			is.Priority, is.Predicted = was.Priority, was.Predicted
			require.Equal(t, was, is, "round %d", round)
		}
	}
	require.Greater(t, sooner, 100, "priorities hardly ever mattered")
}
