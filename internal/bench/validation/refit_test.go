package validation

import (
	"context"
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/profiles"
)

func TestLeastAbsoluteIgnoresOutliers(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	truth := []float64{0.3, -0.2, 0.1}
	var rows [][]float64
	var b []float64
	for i := range 200 {
		a, right := make([]float64, 3), 0.01*rng.NormFloat64()
		for j := range a {
			a[j] = rng.Float64()
			right -= a[j] * truth[j]
		}
		if i%5 == 0 {
			right += 3 // a kernel that the model misses
		}
		rows, b = append(rows, a), append(b, right)
	}
	assert.InDeltaSlice(t, truth, leastAbsolute(rows, b, 3), 0.02)
}

func TestLeastAbsoluteLeavesConstantsWithoutEffect(t *testing.T) {
	x := leastAbsolute([][]float64{{1, 0}, {1, 0}, {1, 0}}, []float64{-0.1, -0.1, -0.1}, 2)
	assert.InDelta(t, 0.1, x[0], 0.01)
	assert.Zero(t, x[1])
	assert.Equal(t, []float64{maxFit}, leastAbsolute([][]float64{{1}, {1}}, []float64{-99, -99}, 1), "bounded")
}

// Rows measured on a device whose blocks start twice as slowly as the profile has it are predicted without error after a
// fit to the other rows.
func TestRefitFindsAConstant(t *testing.T) {
	const base = "entry=idle;profile=v100;mode=span;sample=8;measured_us="
	var rows []string
	shapes := []string{"grid=100000;block=1024", "grid=100000;block=512", "grid=200000;block=1024"}
	for i, shape := range shapes {
		for range 3 {
			rows = append(rows, base+"50;"+shape+";gpu="+string(rune('a'+i)))
		}
	}
	s := setOf(t, rows...)
	truth := make(factors, len(constants))
	for i, c := range constants {
		truth[i] = 1
		if c.name == "block_latency_ns" {
			truth[i] = 1.5
		}
	}
	for i := range s.Rows {
		res := s.predict(&s.Rows[i], truth)
		require.NoError(t, res.Err)
		s.Rows[i].MeasuredUS = res.PredictedUS
	}
	sets := []*Set{s}
	results, err := Predict(context.Background(), sets, "", nil)
	require.NoError(t, err)
	before := Describe(pointers(results))
	require.Greater(t, before.Mean, 0.08, "the constant matters")

	last, of := 0, 0
	held, err := Refit(context.Background(), sets, "", results, func(_ string, done, total int) { last, of = done, total })
	require.NoError(t, err)
	require.Len(t, held, 1, "there are three GPUs and one kernel")
	assert.Equal(t, "gpu", held[0].By)
	assert.Less(t, held[0].Predicted.Mean, before.Mean/3)
	assert.Len(t, held[0].Constants, len(constants))
	assert.Equal(t, of-len(s.Rows), last, "the run that holds out kernels is not made")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Refit(ctx, sets, "", results, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// Factors change a copy, and a share of the bandwidth stays a share.
func TestFactorsChangeACopy(t *testing.T) {
	p, f := profiles.All()[0], make(factors, len(constants))
	was := *p
	for i := range f {
		f[i] = 2
	}
	changed := f.apply(p)
	assert.Equal(t, was, *p)
	assert.InDelta(t, 1, changed.MemoryShare, 0)
	assert.Equal(t, 2*p.BlockLatency, changed.BlockLatency)
	for i, c := range constants {
		one := *p
		c.scale(&one, 1.1)
		assert.NotEqual(t, *p, one, c.name)
		assert.False(t, math.IsNaN(f[i]))
	}
	assert.Same(t, p, factors(nil).apply(p))
}
