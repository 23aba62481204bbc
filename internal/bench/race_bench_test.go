package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// BenchmarkRaceDetector measures the host's cost of the race detector: the time of a
// replay that interprets every kernel, divided by that of the same replay without the detector. Both
// take turns, so that a busy machine slows both.
func BenchmarkRaceDetector(b *testing.B) {
	for _, w := range Workloads() {
		size := map[*Workload]int{vec: 1 << 20, img: 512}[w]
		b.Run(w.Name, func(b *testing.B) {
			var replay [2]func()
			for i, o := range []sim.Options{{Memo: sim.MemoOff}, {Memo: sim.MemoOff, Race: sim.RaceOn}} {
				dev := openWith(b, o)
				in := newInstance(b, dev, w, size)
				plan := planned(b, in, "nimble")
				exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, graphexec.Graph)
				require.NoError(b, err)
				defer exec.Close()
				replay[i] = func() {
					_, err := replayOnce(context.Background(), dev, in, exec)
					require.NoError(b, err)
				}
				replay[i]()
			}
			var took [2]time.Duration
			for b.Loop() {
				for i, f := range replay {
					start := time.Now()
					f()
					took[i] += time.Since(start)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "x-host-time")
		})
	}
}
