package optimizer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The time to plan is part of what a tracer's first replay costs.
func BenchmarkPlan(b *testing.B) {
	for _, c := range realDAGs {
		g := loadDAG(b, c.name)
		for _, s := range Strategies() {
			b.Run(c.name+"/"+s.Name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := Plan(g, Options{Strategy: s.Name, Passes: []string{"hazards", "reduce", "assign", "syncs"}})
					require.NoError(b, err)
				}
			})
		}
	}
	const ops = 1_000_000
	g := bigTrace(ops)
	for _, s := range Strategies() {
		b.Run(fmt.Sprintf("trace/ops=%d/%s", ops, s.Name), func(b *testing.B) {
			for b.Loop() {
				res, err := Plan(g, Options{Strategy: s.Name, Passes: []string{"hazards", "reduce", "assign", "syncs"}})
				require.NoError(b, err)
				b.ReportMetric(float64(len(res.Reduced.Deps())), "deps")
				b.ReportMetric(float64(res.Schedule.Lanes), "lanes")
				b.ReportMetric(float64(res.Schedule.Syncs()), "syncs")
			}
		})
	}
}
