package tracer_test

import (
	"math"
	"testing"
	"time"

	"github.com/reprise-gpu/reprise/device/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// BenchmarkWatching is what watching costs each launch of a program on a device that runs nothing. Programs take
// turns, and the quickest turn counts: run it with -benchtime 30x.
func BenchmarkWatching(b *testing.B) {
	for _, program := range []struct {
		name string
		at   func(i int) int64 // the slice that is passed
	}{
		{"unlike", func(i int) int64 { return int64(uint32(i*i)*2654435761>>12) / 64 * 64 }},
		{"loop", func(i int) int64 { return int64(i % 6 * 64) }},
	} {
		b.Run(program.name, func(b *testing.B) {
			dev := null.New()
			silent := func(body *tracer.Trace) (tracer.Replayer, error) {
				return &recital{ledger: &ledger{Device: dev}, body: &tracer.Trace{Graph: &ir.Graph{}}}, nil
			}
			ways := []string{"eager", "direct", "auto"}
			tracers := []*tracer.Tracer{tracer.New(dev, "eager", tracer.Eager), tracer.New(dev, "direct", tracer.Direct), tracer.Auto(dev, "auto", silent)}
			var launch []func(at int64)
			for _, tr := range tracers {
				combine := load(b, tr, "combine")
				x := tr.Alloc("x", ir.F32, 1<<20+64, ir.InOut)
				y := tr.Alloc("y", ir.F32, 64, ir.InOut)
				launch = append(launch, func(at int64) {
					tr.Launch(combine, tracer.Linear(1, 32), x.Slice(at, at+64), y, y, y, 64)
				})
			}
			quickest := []float64{math.Inf(1), math.Inf(1), math.Inf(1)}
			const turn = 16_000 // in which an idle watcher watches and rests
			for round := range b.N {
				for i, f := range launch {
					begin := time.Now()
					for k := range turn {
						f(program.at(round*turn + k))
					}
					quickest[i] = min(quickest[i], float64(time.Since(begin).Nanoseconds())/turn)
				}
			}
			for i, way := range ways {
				b.ReportMetric(quickest[i], way+"-ns/launch")
			}
		})
	}
}
