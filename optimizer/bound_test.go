package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// No strategy is predicted below the bound, on programs of every kind of operation and on
// DAGs, for a device on which kernels share and for one that moves managed memory whole.
func TestNoPlanIsPredictedBelowTheBound(t *testing.T) {
	for seed := range uint64(62) {
		r := rand.New(rand.NewPCG(seed, 30))
		g := irtest.Random(r, int(seed%31))
		if seed%3 == 0 {
			g = irtest.RandomDAG(r, 1+r.IntN(30), 0.2)
		}
		for _, profile := range []string{"h200", "gtx960"} {
			opts := Options{Profile: profile}
			for _, s := range Strategies() {
				opts.Strategy = s.Name
				plan, err := Plan(g, opts)
				require.NoError(t, err)
				bound, err := lowerBound(plan.Analyzed, opts)
				require.NoError(t, err)
				require.LessOrEqual(t, bound, plan.Schedule.Predicted, "seed %d, %s on %s", seed, s.Name, profile)
			}
		}
	}
}

// A chain takes what its critical path takes, so there the bound is the prediction.
func TestTheBoundOfAChainIsItsPrediction(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 31))
	g := irtest.RandomDAG(r, 40, 1)
	plan, err := Plan(g, Options{Strategy: "serial"})
	require.NoError(t, err)
	bound, err := lowerBound(plan.Reduced, Options{})
	require.NoError(t, err)
	assert.Equal(t, plan.Schedule.Predicted, bound)
}

// Copies in one direction queue, however wide the graph.
func TestTheBoundCountsTheCopyEngine(t *testing.T) {
	f, err := ir.Parse("copies.rir", `graph copies {
  buffer @a u8[4000000] device(0)
  buffer @b u8[4000000] device(0)
  buffer @ha u8[4000000] pinned
  buffer @hb u8[4000000] pinned
  %0 = copy @ha -> @a
  %1 = copy @hb -> @b
}`)
	require.NoError(t, err)
	p := profiles.All()[0]
	bound, err := lowerBound(f.Graph, Options{})
	require.NoError(t, err)
	copies := 2 * (float64(p.CopyInLatency/model.Nanosecond) + 4_000_000/p.LinkGBps)
	assert.Greater(t, float64(bound), copies)
	assert.Less(t, float64(bound), copies*1.1)
}

// A prefetch is enqueued before the graph and runs while that is launched, which for many
// nodes takes a while.
func TestTheBoundLetsPrefetchesRunDuringTheLaunch(t *testing.T) {
	var text strings.Builder
	text.WriteString("graph ahead {\n  buffer @a u8[40000000] managed input\n  %0 = prefetch @a -> device\n")
	for v := range 50_000 {
		fmt.Fprintf(&text, "  %%%d = empty cost(0ns)\n", 1+v)
	}
	text.WriteString("}\n")
	f, err := ir.Parse("ahead.rir", text.String())
	require.NoError(t, err)
	for _, name := range []string{"roundrobin(100)", "roundrobin(2000)"} {
		plan, err := Plan(f.Graph, Options{Strategy: name})
		require.NoError(t, err)
		bound, err := lowerBound(plan.Analyzed, Options{})
		require.NoError(t, err)
		assert.LessOrEqual(t, bound, plan.Schedule.Predicted, name)
	}
}

// Where nothing is shared but the launch, the bound weighs chains against it, and a plan
// comes close: with one term for the launch and one for the device it would be a seventh of
// what any plan takes.
func TestTheBoundWeighsChainsAgainstTheLaunch(t *testing.T) {
	g := graphOf(t, "parallel", 2000, nil)
	bound, err := lowerBound(g, Options{})
	require.NoError(t, err)
	best := int64(math.MaxInt64)
	for k := 1; k <= 2048; k *= 2 {
		s := plan(t, g, fmt.Sprintf("roundrobin(%d)", k)).Schedule
		require.LessOrEqual(t, bound, s.Predicted, "%d lanes", k)
		best = min(best, s.Predicted)
	}
	assert.Less(t, float64(best), 1.05*float64(bound))
}

// Result.Bound is that of the graph after the last pass, with the options of the plan, and 0 unless it is requested.
func TestAPlanHasABoundIfRequested(t *testing.T) {
	g := graphOf(t, "parallel", 50, nil)
	opts := Options{Also: []string{"priorities"}, Bound: true}
	plan, err := Plan(g, opts)
	require.NoError(t, err)
	want, err := lowerBound(plan.Graph, opts)
	require.NoError(t, err)
	assert.Equal(t, want, plan.Bound)
	assert.Positive(t, want)
	plan, err = Plan(g, Options{})
	require.NoError(t, err)
	assert.Zero(t, plan.Bound)
}
