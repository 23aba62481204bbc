package timings

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The answers of a window equal those computed from the latest times, one by one.
func TestWindowsEqualTheLatestTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		size := 1 + r.IntN(20)
		w := NewWindow(size, nil)
		var all []time.Duration
		for range 3 * size {
			d := time.Duration(r.IntN(8)) // with ties
			all = append(all, d)
			w.Record(d)
			latest := slices.Sorted(slices.Values(all[max(0, len(all)-size):]))
			require.Equal(t, len(latest), w.Count())
			q, elapsed, more := r.Float64(), time.Duration(r.IntN(9)-1), time.Duration(r.IntN(4))
			require.Equal(t, latest[max(1, int(math.Ceil(q*float64(len(latest)))))-1], w.Quantile(q))
			var longer, longest []time.Duration
			for _, x := range latest {
				if x > elapsed {
					longer = append(longer, x)
				}
				if x > elapsed+more {
					longest = append(longest, x)
				}
			}
			if len(longer) > 0 {
				require.Equal(t, longer[max(1, int(math.Ceil(q*float64(len(longer)))))-1]-elapsed, w.Left(q, elapsed))
				require.InDelta(t, float64(len(longest))/float64(len(longer)), w.Survival(elapsed, more), 1e-12)
			}
		}
	}
}

// After a gap has doubled for good, or halved, all quantiles are those of the new gap within 50 gaps.
func TestGapsThatDriftDominateWithin50(t *testing.T) {
	for _, factor := range []float64{2, 0.5} {
		r := rand.New(rand.NewPCG(2, 2))
		gap := func(scale float64) time.Duration { return time.Duration(scale * 1e6 * (1 + 0.1*r.Float64())) }
		old := NewSketch()
		for range 10000 {
			old.Record(gap(1))
		}
		w := NewWindow(GapWindow, old)
		require.InEpsilon(t, 1.05e6, float64(w.Quantile(0.5)), 0.02)
		for range 50 {
			w.Record(gap(factor))
		}
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 1} {
			assert.InEpsilon(t, factor*1.05e6, float64(w.Quantile(q)), 0.06, "quantile %g", q)
		}
	}
	assert.LessOrEqual(t, GapWindow, 50)
}

// A window of fewer new gaps than its size has the share of them that it should, in every quantile of its seed.
func TestASeedIsForgottenEvenly(t *testing.T) {
	seed := NewSketch()
	for i := range 1000 {
		seed.Record(time.Duration(1000 * i))
	}
	w := NewWindow(GapWindow, seed)
	assert.Equal(t, GapWindow, w.Count())
	for range GapWindow / 2 {
		w.Record(0) // below all
	}
	for _, q := range []float64{0.6, 0.75, 0.9} {
		rest := 2*q - 1 // quantile of what is left of the seed
		assert.InDelta(t, rest*1e6, float64(w.Quantile(q)), 0.08*1e6, "quantile %g", q)
	}
	few := NewWindow(GapWindow, NewSketch(100, 200, 300))
	assert.Equal(t, 3, few.Count(), "a seed weighs as many gaps as it has")
	assert.EqualValues(t, 200, few.Quantile(0.5))
	assert.Zero(t, NewWindow(0, NewSketch()).Count())
}

// A gap of two kinds: after the short ones have passed, the rest of a long one is certain.
func TestElapsedTimeTellsTheKindsOfGapsApart(t *testing.T) {
	w := NewWindow(GapWindow, nil)
	for i := range GapWindow {
		w.Record([]time.Duration{20 * time.Microsecond, 5 * time.Millisecond}[i%2])
	}
	assert.Equal(t, 20*time.Microsecond, w.Left(0.1, 0))
	assert.Equal(t, 4970*time.Microsecond, w.Left(0.1, 30*time.Microsecond))
	assert.InDelta(t, 0.5, w.Survival(0, time.Millisecond), 1e-9)
	assert.InDelta(t, 1, w.Survival(30*time.Microsecond, time.Millisecond), 1e-9)
}

func TestGapsBeyondAllOthers(t *testing.T) {
	w := NewWindow(GapWindow, NewSketch(1000))
	assert.Equal(t, time.Millisecond, w.Left(0.5, time.Millisecond), "half of them last twice as long")
	assert.InDelta(t, 0.5, w.Survival(time.Millisecond, time.Millisecond), 1e-9)
	assert.Zero(t, w.Left(0, time.Millisecond))
	assert.Positive(t, w.Left(1, time.Hour))
	empty := NewWindow(GapWindow, nil)
	assert.Zero(t, empty.Quantile(0.5))
	assert.Zero(t, empty.Left(0.5, time.Second))
	assert.Zero(t, empty.Survival(time.Second, time.Second))
	zeros := NewWindow(2, NewSketch(0))
	assert.Zero(t, zeros.Left(0.5, 0))
	assert.Zero(t, zeros.Survival(0, 0))
}

// TestReaches compares Reaches with Left at every moment.
func TestReaches(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		w := NewWindow(1+r.IntN(12), nil)
		for range 1 + r.IntN(12) {
			w.Record(time.Duration(r.IntN(60)))
		}
		q, elapsed, left := 0.01+0.9*r.Float64(), time.Duration(r.IntN(70)), time.Duration(1+r.IntN(40))
		at := w.Reaches(q, elapsed, left)
		require.Greater(t, at, elapsed)
		require.GreaterOrEqual(t, w.Left(q, at), left-1, "rounding of Left")
		for before := elapsed + 1; before < at; before++ {
			if w.Left(q, elapsed) < left {
				require.Less(t, w.Left(q, before), left, "%v of %v", before, at)
			}
		}
	}
}
