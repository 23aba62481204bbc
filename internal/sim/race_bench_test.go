package sim_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// BenchmarkRaceDetector is what looking for races costs the host where it costs most:
// in tiled matrix products, which live in shared memory. See the benchmark of that
// name in package bench for workloads.
func BenchmarkRaceDetector(b *testing.B) {
	text, err := os.ReadFile("testdata/kernels/gemm.ptx")
	require.NoError(b, err)
	const n = 128
	x, y, z := random[float32](n*n, 1), random[float32](n*n, 2), random[float32](n*n, 3)
	for _, c := range []struct {
		kernel string
		shape  shape
	}{
		{"sgemm", plane(n/16, n/16, 16, 16)},
		{"sgemm_registers", line(1, 256).over(n/64, n/64)},
	} {
		b.Run(c.kernel, func(b *testing.B) {
			var launch [2]func()
			for i, o := range []sim.Options{{Memo: sim.MemoOff}, {Memo: sim.MemoOff, Race: sim.RaceOn}} {
				g := loadWith(b, o, "gemm.ptx", string(text))
				dx, dy, dz := up(g, x), up(g, y), up(g, z)
				launch[i] = func() {
					g.launch(c.kernel, c.shape, int32(n), int32(n), int32(n), float32(1), dx, dy, float32(0), dz)
					require.NoError(b, g.SynchronizeAll())
				}
				launch[i]()
			}
			var took [2]time.Duration
			for b.Loop() {
				for i, f := range launch {
					start := time.Now()
					f()
					took[i] += time.Since(start)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "x-host-time")
		})
	}
}
