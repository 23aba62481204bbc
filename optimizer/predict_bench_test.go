package optimizer

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// BenchmarkPredict predicts replays of schedules of 10^3 to 10^6 launches in layers of 8, and
// prints the exponent with which the time grows from each size to the next.
func BenchmarkPredict(b *testing.B) {
	for _, streams := range []bool{false, true} {
		before := 0.0
		for ops := 1000; ops <= 1_000_000; ops *= 10 {
			b.Run(fmt.Sprintf("streams=%v/ops=%d", streams, ops), func(b *testing.B) {
				s, f := layers(b, ops, 8)
				f.streams = streams
				start, n := time.Now(), 0
				for b.Loop() {
					f.makespan(s)
					n++
				}
				took := time.Since(start).Seconds() / float64(n)
				b.ReportMetric(took*1e9/float64(ops), "ns/launch")
				if before > 0 {
					b.ReportMetric(math.Log10(took/before), "exponent")
				}
				before = took
			})
		}
	}
}

// layers is a schedule of launches in layers of a width, each of which waits for two of the
// layer before.
func layers(t testing.TB, ops, width int) (*ir.Schedule, *forecast) {
	var edges []edge
	for v := width; v < ops; v++ {
		u := v - width
		edges = append(edges, edge{int32(u), int32(v)}, edge{int32(u - u%width + (v+1)%width), int32(v)})
	}
	g := graphOf(t, "layers", ops, edges)
	for v := range g.Ops {
		g.Ops[v].Kind, g.Ops[v].Cost = ir.KindLaunch, -1
		g.Ops[v].Launch = &ir.Launch{Entry: "k", Grid: ir.Dim3{X: uint32(8 + v%64), Y: 1, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}}
	}
	res, err := Plan(g, Options{Strategy: fmt.Sprintf("levels(%d)", width), Passes: []string{"hazards", "assign", "syncs"}})
	require.NoError(t, err)
	p := profiles.All()[0]
	return res.Schedule, &forecast{profile: p, costs: newDeclaredCosts(p)}
}
