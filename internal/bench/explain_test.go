package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestExplanationsAddUp expects, for every strategy and back end, that the causes add up to the makespan to the
// picosecond, and that the makespan equals the time that bench measures.
func TestExplanationsAddUp(t *testing.T) {
	for _, w := range Workloads() {
		p := Params{Size: w.Tiny, Blocks: 32} // idle blocks would only cost time
		for _, strategy := range []string{"serial", "nimble"} {
			for _, backend := range graphexec.Backends() {
				dev, err := sim.New(sim.Options{})
				require.NoError(t, err)
				x, err := Explain(context.Background(), dev, w, p, strategy, backend)
				require.NoError(t, err)
				var causes, limits, onPath int64
				for _, c := range x.Causes {
					causes += c.PS
				}
				for _, l := range x.Limits {
					limits += l.PS
				}
				for _, b := range x.Work {
					onPath += b.OnPathPS
					assert.LessOrEqual(t, b.OnPathPS, b.TookPS)
					assert.NotEmpty(t, b.Limit)
				}
				assert.Equal(t, x.MakespanPS, causes)
				assert.Equal(t, x.MakespanPS, limits)
				if strategy == "serial" || backend == graphexec.Graph { // short work on many streams ends before the host has enqueued it all
					assert.Positive(t, onPath)
				}
				if strategy == "serial" && backend == graphexec.Graph { // streams wait for the host in between
					assert.Equal(t, total(x.Work), onPath, "in a line, all work is on the path")
				}
				require.NoError(t, dev.Close())

				dev, err = sim.New(sim.Options{})
				require.NoError(t, err)
				in, err := w.New(dev, p)
				require.NoError(t, err)
				require.NoError(t, in.Measure(context.Background(), dev))
				plan, err := in.Plan(dev, strategy, backend)
				require.NoError(t, err)
				exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, backend)
				require.NoError(t, err)
				took, err := replayOnce(context.Background(), dev, in, exec)
				for range settle {
					require.NoError(t, err)
					took, err = replayOnce(context.Background(), dev, in, exec)
				}
				require.NoError(t, err)
				assert.InDelta(t, float64(x.MakespanPS)/1000, float64(took.Nanoseconds()), 1.5)
				require.NoError(t, exec.Close())
				require.NoError(t, in.Close())
				require.NoError(t, dev.Close())
			}
		}
	}
}

func total(work []Blame) (sum int64) {
	for _, b := range work {
		sum += b.TookPS
	}
	return sum
}
