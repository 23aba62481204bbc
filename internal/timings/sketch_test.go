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

// distributions are sources of times, with the spread that kernels and gaps have.
var distributions = map[string]func(*rand.Rand) time.Duration{
	"short":      func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(300)) },
	"uniform":    func(r *rand.Rand) time.Duration { return time.Duration(r.IntN(1e9)) },
	"log-normal": func(r *rand.Rand) time.Duration { return time.Duration(1e6 * math.Exp(0.5*r.NormFloat64())) },
	"bimodal": func(r *rand.Rand) time.Duration {
		return time.Duration([]float64{2e4, 5e6}[r.IntN(2)] * (1 + 0.01*r.Float64()))
	},
	"constant": func(*rand.Rand) time.Duration { return 3217 },
	"heavy":    func(r *rand.Rand) time.Duration { return time.Duration(1e3 / math.Pow(r.Float64(), 1.5)) },
}

// A quantile is never below the exact one, and at most 1/128 above it. The mean is within 1/256.
func TestQuantilesAreWithinTheirBound(t *testing.T) {
	for name, draw := range distributions {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{1, 2, 7, 100, 3001} {
			s, exact, sum := NewSketch(), make([]time.Duration, n), 0.0
			for i := range exact {
				exact[i] = min(draw(r), MaxTime)
				s.Record(exact[i])
				sum += float64(exact[i])
			}
			slices.Sort(exact)
			for _, q := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1} {
				want := exact[max(1, int(math.Ceil(q*float64(n)-1e-9)))-1]
				got := s.Quantile(q)
				assert.GreaterOrEqual(t, got, want, "%s, %d times, quantile %g", name, n, q)
				assert.LessOrEqual(t, float64(got), float64(want)*(1+1.0/128), "%s, %d times, quantile %g", name, n, q)
			}
			assert.EqualValues(t, n, s.Count())
			mean := sum / float64(n)
			assert.InDelta(t, mean, float64(s.Mean()), mean/256+0.5, "%s, %d times", name, n)
		}
	}
}

func TestTimesOutOfRangeCountAsTheEnds(t *testing.T) {
	s := NewSketch(-5, 0, time.Hour)
	assert.EqualValues(t, 3, s.Count())
	assert.EqualValues(t, 0, s.Quantile(0.5))
	assert.EqualValues(t, MaxTime, s.Quantile(1))
	empty := NewSketch()
	assert.Zero(t, empty.Count())
	assert.Zero(t, empty.Quantile(0.5))
	assert.Zero(t, empty.Mean())
}

// Sketches that are merged, in any order and with any parts empty, equal the sketch of all times.
func TestMergedSketchesEqualOneOfAllTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 15 {
		all, parts := NewSketch(), make([]*Sketch, 1+r.IntN(4))
		for i := range parts {
			parts[i] = NewSketch()
		}
		for range r.IntN(200) {
			d := time.Duration(math.Exp(25 * r.Float64()))
			all.Record(d)
			parts[r.IntN(len(parts))].Record(d)
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		merged := NewSketch()
		for _, p := range parts {
			before := p.text()
			merged.Merge(p)
			require.Equal(t, before, p.text(), "the source is unchanged")
		}
		require.Equal(t, all.buckets(), merged.buckets())
	}
	s := NewSketch(5)
	s.Merge(nil)
	assert.EqualValues(t, 1, s.Count())
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s, w := NewSketch(), NewWindow(GapWindow, nil)
	assert.Zero(t, testing.AllocsPerRun(200, func() {
		d := distributions["heavy"](r)
		s.Record(d)
		w.Record(d)
		_ = s.Quantile(0.5)
		_ = w.Left(0.1, d)
		_ = w.Survival(d, d)
	}))
}

func BenchmarkSketchRecord(b *testing.B) { benchmarkRecord(b, NewSketch().Record) }
func BenchmarkWindowRecord(b *testing.B) { benchmarkRecord(b, NewWindow(GapWindow, nil).Record) }
func BenchmarkWideWindowRecord(b *testing.B) {
	benchmarkRecord(b, NewWindow(256, nil).Record)
}

func benchmarkRecord(b *testing.B, record func(time.Duration)) {
	r := rand.New(rand.NewPCG(7, 8))
	times := make([]time.Duration, 1024)
	for i := range times {
		times[i] = distributions["log-normal"](r)
	}
	i := 0
	for b.Loop() {
		record(times[i&1023])
		i++
	}
}

func BenchmarkWindowLeft(b *testing.B) {
	w := NewWindow(GapWindow, nil)
	benchmarkRecord(b, func(d time.Duration) { _ = w.Left(0.1, d) })
}

func BenchmarkSketchQuantile(b *testing.B) {
	s := NewSketch(1e6)
	benchmarkRecord(b, func(time.Duration) { _ = s.Quantile(0.5) })
}
