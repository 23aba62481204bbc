package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// realKernels are kernels of which one can say by hand what they need: bytes of
// DRAM when nothing is in L2, since their buffers are larger, and operations.
var realKernels = []struct {
	name        string
	bytes, fp32 float64 // fp32 and fp64 count multiply-adds
	fp64        float64
	run         func(s *stopwatch) float64
}{
	{"saxpy", 12 * 16 * million, 16 * million, 0, func(s *stopwatch) float64 { return s.saxpy(16 * million) }},
	{"transpose, plain", 8 * 16 * million, 0, 0, func(s *stopwatch) float64 { return s.transpose("transpose_plain") }},
	{"transpose, padded", 8 * 16 * million, 0, 0, func(s *stopwatch) float64 { return s.transpose("transpose_padded") }},
	{"sgemm, plain", 0, 1 << 30, 0, func(s *stopwatch) float64 { return 2 << 30 / s.gemm("sgemm_plain") / 1e6 }},
	{"sgemm, tiled", 0, 1 << 30, 0, func(s *stopwatch) float64 { return 2 << 30 / s.gemm("sgemm_tiled") / 1e6 }},
	{"FP64 chains", 0, 0, 4 * 1024 * 256 * 1056, func(s *stopwatch) float64 {
		return s.us("fma64", line(1056, 256), int32(1024), 1.0, room[float64](s, 256*1056))
	}},
}

func TestRealKernelsKeepToTheRoofline(t *testing.T) {
	for _, id := range []string{"h200", "a100", "v100", "p100", "gtx1660s", "gtx960"} {
		p := profile(t, id)
		clock := p.ClockMHz * float64(p.SMs) // SM cycles per us
		for _, k := range realKernels {
			us := k.run(newStopwatch(t, "timing", p, 2))
			require.GreaterOrEqual(t, us, k.bytes/p.MemoryGBps/1e3, "%s on %s: bytes", k.name, id)
			require.GreaterOrEqual(t, us, k.fp32/p.Lanes[0]/clock, "%s on %s: FP32", k.name, id)
			require.GreaterOrEqual(t, us, k.fp64/p.Lanes[1]/clock, "%s on %s: FP64", k.name, id)
			if id != "h200" {
				continue
			}
			for what, more := range map[string]func(*model.Profile){
				"multiprocessors": func(q *model.Profile) { q.SMs *= 2 },
				"bandwidth":       func(q *model.Profile) { q.MemoryGBps *= 2 },
				"L2 bandwidth":    func(q *model.Profile) { q.L2GBps *= 2 },
				"clock":           func(q *model.Profile) { q.ClockMHz *= 2 },
				"L2":              func(q *model.Profile) { q.L2Bytes *= 2 },
			} {
				q := profile(t, id)
				more(q)
				// One tail wave may be larger: see TestMoreHardwareNeverSlowsOneKernel.
				require.LessOrEqual(t, k.run(newStopwatch(t, "timing", q, 2)), 1.02*us, "%s on %s: twice the %s", k.name, id, what)
			}
		}
	}
}
