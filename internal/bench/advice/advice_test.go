package advice_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/advice"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// traced returns a measured workload of its tiny size, on a device that runs two blocks of each launch.
func traced(t *testing.T, w *bench.Workload, profile string) (device.Device, *bench.Instance) {
	dev, err := sim.New(sim.Options{Profile: profile, Sample: 2})
	require.NoError(t, err)
	in, err := w.New(dev, bench.Params{Size: w.Tiny, Seed: 1, Sampled: true})
	require.NoError(t, err)
	require.NoError(t, in.Measure(context.Background(), dev))
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, dev.Close())
	})
	return dev, in
}

// ticking returns a clock on which everything takes 100 us.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(100 * time.Microsecond)
		return now
	}
}

// agrees checks that the chosen way is the quickest one when all are measured, or slower by less than the stated uncertainty.
// The times of operations were measured, so predicted times of replays are off by less than two hundredths.
func agrees(t *testing.T, dev device.Device, in *bench.Instance, quick bool) {
	a, err := advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Copies: []int{2}, Quick: quick, Measure: true})
	require.NoError(t, err)
	assert.Positive(t, a.Uncertainty)
	quickest := math.Inf(1)
	for _, w := range a.Ways {
		quickest = min(quickest, w.MeasuredUS)
		assert.InEpsilon(t, w.MeasuredUS, w.ReplayUS, 0.02, w.Name)
	}
	assert.LessOrEqual(t, a.Ways[a.Chosen].MeasuredUS, quickest*(1+a.Uncertainty))
}

func TestAdviceAgreesWithWorkloads(t *testing.T) {
	for _, w := range bench.Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			dev, in := traced(t, w, "h200")
			agrees(t, dev, in, w.Name != "vec") // searches take seconds
		})
	}
}

func TestAdviceAgreesWithSolvers(t *testing.T) {
	for _, m := range solver.Methods() {
		t.Run(m.Name, func(t *testing.T) {
			matrix := "poisson2d:8"
			if m.Name == "pagerank" || m.Name == "hits" {
				matrix = "links:64,4,1"
			}
			a, err := sparse.Generate(matrix)
			require.NoError(t, err)
			system := &advice.Solver{Name: m.Name, Matrix: a, Options: solver.Options{Method: m, CheckEvery: 4}, Iterations: 32}
			dev, in := traced(t, system.Workload(), "a100")
			agrees(t, dev, in, true)
			loopAgrees(t, dev, in, system)
		})
	}
}

// loopAgrees checks that the chosen lowering is the quickest one when all are measured, or slower by less than the stated
// uncertainty.
func loopAgrees(t *testing.T, dev device.Device, in *bench.Instance, system *advice.Solver) {
	o := advice.Options{Now: ticking(), Quick: true, Measure: true}
	a, err := advice.Of(context.Background(), dev, in, o)
	require.NoError(t, err)
	require.NoError(t, a.AddLoop(context.Background(), dev, in, system, o, func() (device.Device, error) { return sim.New(sim.Options{Profile: "a100"}) }))
	l := a.Loop
	require.Len(t, l.Ways, 5)
	assert.Positive(t, l.Uncertainty)
	quickest := math.Inf(1)
	for _, w := range l.Ways {
		quickest = min(quickest, w.MeasuredUS)
		assert.InEpsilon(t, w.MeasuredUS, w.IterationUS, 0.1, w.Name)
	}
	assert.LessOrEqual(t, l.Ways[l.Chosen].MeasuredUS, quickest*(1+l.Uncertainty), l.Ways[l.Chosen].Name)
	assert.Zero(t, l.Ways[0].BreakEven)
	assert.Positive(t, l.Ways[l.Chosen].BreakEven)
}

func TestABudgetBoundsTheMemory(t *testing.T) {
	dev, in := traced(t, bench.Workloads()[2], "h200")
	free, err := advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Copies: []int{2}, Quick: true})
	require.NoError(t, err)
	least := free.Ways[0].Bytes
	for _, w := range free.Ways {
		least = min(least, w.Bytes)
		assert.LessOrEqual(t, w.Bytes, w.Unshared)
	}
	require.Less(t, least, free.Ways[free.Chosen].Bytes)
	tight, err := advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Copies: []int{2}, Budget: least, Quick: true})
	require.NoError(t, err)
	assert.Equal(t, least, tight.Ways[tight.Chosen].Bytes)
	for _, p := range tight.Picks {
		assert.LessOrEqual(t, tight.Ways[p.Way].Bytes, least)
	}
	_, err = advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Budget: least - 1, Quick: true})
	require.ErrorIs(t, err, sentinel.ErrOutOfMemory)
}

// Few replays do not pay for planning.
func TestReplaysPayForThePlan(t *testing.T) {
	dev, in := traced(t, bench.Workloads()[0], "h200")
	a, err := advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Replays: 1, Quick: true})
	require.NoError(t, err)
	assert.Zero(t, a.Chosen, "the program's calls")
	many, err := advice.Of(context.Background(), dev, in, advice.Options{Now: ticking(), Quick: true})
	require.NoError(t, err)
	assert.NotZero(t, many.Chosen)
	n := many.Ways[many.Chosen].BreakEven
	assert.Greater(t, n, 1.0)
	total := func(i int, n float64) float64 { return many.Ways[i].PrepareUS + n*many.Ways[i].ReplayUS }
	assert.LessOrEqual(t, total(many.Chosen, n), total(0, n))
	assert.Greater(t, total(many.Chosen, n-1), total(0, n-1))
}
