package auto_test

import (
	"math"
	"testing"
	"time"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// BenchmarkWatching is what watching costs each launch of a program on a device that runs nothing. Programs
// take turns, and of each part of a turn the quickest counts: run it with -benchtime 30x. It fails if that is
// 2 % or more of what a launch takes with a driver.
func BenchmarkWatching(b *testing.B) {
	for _, program := range []struct {
		name string
		at   func(i int) int64 // the slice that is passed
	}{
		{"unlike", func(i int) int64 { return int64(uint32(i*i)*2654435761>>12) / 64 * 64 }},
		{"shuffled", func(i int) int64 { return int64(uint32(i*i)*2654435761>>28) * 64 }}, // one of 16, in no order
		{"loop", func(i int) int64 { return int64(i % 6 * 64) }},
	} {
		b.Run(program.name, func(b *testing.B) {
			dev := null.New()
			silent := func(body *tracer.Trace) (auto.Replayer, error) {
				return &recital{ledger: &ledger{Device: dev}, body: &tracer.Trace{Graph: &ir.Graph{}}}, nil
			}
			start := func(tr *tracer.Tracer) func(at int64) {
				combine := load(b, tr, "combine")
				x := tr.Alloc("x", ir.F32, 1<<20+64, ir.InOut)
				y := tr.Alloc("y", ir.F32, 64, ir.InOut)
				return func(at int64) { tr.Launch(combine, tracer.Linear(1, 32), x.Slice(at, at+64), y, y, y, 64) }
			}
			watch := func() func(at int64) { return start(auto.Start(dev, "auto", silent)) }
			ways := []string{"eager", "direct", "auto", "awake"}
			launch := []func(at int64){start(tracer.New(dev, "eager", tracer.Eager)), start(tracer.New(dev, "direct", tracer.Direct)), watch(), watch()}
			const turn = 16_000 // in which an idle watcher watches and rests
			const piece = 250   // short enough that on a machine with other work some have a processor for themselves
			var quickest [4][turn / piece]float64
			for i := range quickest {
				for k := range quickest[i] {
					quickest[i][k] = math.Inf(1)
				}
			}
			for round := range b.N {
				for n := range 24 { // what was replayed a moment ago is watched closely
					launch[3](int64(1<<16 + n%6*64))
				}
				for i, f := range launch {
					for k := range quickest[i] {
						begin := time.Now()
						for n := range piece {
							f(program.at(round*turn + k*piece + n))
						}
						quickest[i][k] = min(quickest[i][k], float64(time.Since(begin).Nanoseconds())/turn)
					}
				}
			}
			var took [4]float64
			for i, way := range ways {
				for _, t := range quickest[i] {
					took[i] += t
				}
				b.ReportMetric(took[i], way+"-ns/launch")
			}
			const driver = 2200 // ns, of a launch by the profile of the H200
			percent := func(way int) float64 { return 100 * (took[way] - took[1]) / (took[1] + driver) }
			more := percent(2)
			b.ReportMetric(more, "%-more")
			b.ReportMetric(percent(3), "%-more-awake")
			if b.N >= 20 && more >= 2 { // fewer turns are those of close watching
				b.Errorf("watching makes a launch %.1f %% dearer; the goal is less than 2", more)
			}
		})
	}
}
