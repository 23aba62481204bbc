package sim_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// stopwatch times launches of one file of testdata/kernels on one profile.
type stopwatch struct {
	*gpu
	profile *model.Profile
	last    time.Duration
}

func newStopwatch(t testing.TB, file string, p *model.Profile, sample int64) *stopwatch {
	t.Helper()
	text, err := os.ReadFile("testdata/kernels/" + file + ".ptx")
	require.NoError(t, err)
	s := &stopwatch{profile: p}
	s.gpu = loadWith(t, sim.Options{Custom: p, Sample: sample, Memo: sim.MemoOff, Trace: func(span sim.Span) {
		if span.Kind == "launch" {
			s.last = span.End - span.Begin
		}
	}}, file+".ptx", string(text))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// profile is a copy of a known one.
func profile(t testing.TB, id string) *model.Profile {
	p, err := profiles.Lookup(id)
	require.NoError(t, err)
	custom := *p
	return &custom
}

// us is how many microseconds the second of two launches takes: the first fills
// the caches.
func (s *stopwatch) us(kernel string, sh shape, args ...any) float64 {
	s.t.Helper()
	for range 2 {
		s.launch(kernel, sh, args...)
	}
	require.NoError(s.t, s.SynchronizeAll())
	return float64(s.last) / float64(time.Microsecond)
}

// room is memory that holds n elements of T, all zero.
func room[T any](s *stopwatch, n int) array[T] {
	s.t.Helper()
	p, err := s.Alloc(int64(n) * int64(len(bytesOf(make([]T, 1)))))
	require.NoError(s.t, err)
	return array[T]{s.gpu, p, n}
}

// skewedSparse has short rows, and one in 200 of up to 600 elements.
func skewedSparse(rows int, seed uint64) sparse {
	rng := rand.New(rand.NewPCG(seed, 4))
	m := sparse{rows: rows, start: make([]int32, 1, rows+1)}
	for range rows {
		n := rng.IntN(8)
		if rng.IntN(200) == 0 {
			n = rng.IntN(600)
		}
		for range n {
			m.column = append(m.column, int32(rng.IntN(rows)))
			m.value = append(m.value, 1)
		}
		m.start = append(m.start, int32(len(m.column)))
	}
	return m
}

// Sampling a regular kernel, whose blocks all do the same, costs nothing but the
// rounding of counts. Where blocks differ, those that are run decide: what 64 of
// them miss is measured here and stated in Options.Sample.
func TestSampledTimesAreCloseToWholeOnes(t *testing.T) {
	p := profile(t, "h200")
	p.SMs = 4 // so that small problems fill the device
	for _, c := range []struct {
		name, file string
		sample     int64
		within     float64
		run        func(s *stopwatch) float64
	}{
		{"saxpy", "timing", 16, 0.01, func(s *stopwatch) float64 {
			const n = 1 << 20
			return s.us("saxpy", line(n/256, 256), int32(n), float32(2), room[float32](s, n), room[float32](s, n))
		}},
		{"tiled sgemm", "timing", 4, 0.01, func(s *stopwatch) float64 {
			const n = 128
			return s.us("sgemm_tiled", plane(n/32, n/32, 32, 32), int32(n), room[float32](s, n*n), room[float32](s, n*n), room[float32](s, n*n))
		}},
		{"transpose", "timing", 16, 0.01, func(s *stopwatch) float64 {
			const n = 1024
			return s.us("transpose_conflicts", plane(n/32, n/32, 32, 8), int32(n), room[float32](s, n*n), room[float32](s, n*n))
		}},
		{"stencil", "stencil", 16, 0.03, func(s *stopwatch) float64 {
			const n = 512
			return s.us("star2d", plane(n/32, n/8, 32, 8), room[float32](s, n*n), room[float32](s, n*n), int32(n), int32(n))
		}},
		{"Mandelbrot", "mandelbrot", 64, 0.25, func(s *stopwatch) float64 {
			const n = 256
			return s.us("mandelbrot", plane(n/16, n/4, 16, 4), room[int32](s, n*n), int32(n), int32(n), -2.0, 1.25, 2.5/n, int32(500))
		}},
		{"SpMV", "spmv", 64, 0.25, func(s *stopwatch) float64 {
			const rows = 1 << 15
			m := skewedSparse(rows, 7)
			return s.us("csr_scalar_f32", line(rows/128, 128), int32(rows), up(s.gpu, m.start), up(s.gpu, m.column),
				up(s.gpu, singles(m.value)), room[float32](s, rows), room[float32](s, rows))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, sampled := c.run(newStopwatch(t, c.file, p, 0)), c.run(newStopwatch(t, c.file, p, c.sample))
			t.Logf("%.3f us whole, %.3f us from %d blocks: %+.1f %%", whole, sampled, c.sample, 100*(sampled/whole-1))
			require.InEpsilon(t, whole, sampled, c.within)
		})
	}
}
