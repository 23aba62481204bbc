package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestMeasuredPlansArePredicted expects that measured demands predict other plans of the same program to a
// thousandth. The difference is due to the contents of caches after another preceding kernel.
// A prediction does not include the host's return from the wait.
func TestMeasuredPlansArePredicted(t *testing.T) {
	ctx := context.Background()
	for _, memory := range []Memory{Pinned, Prefetch, Managed} {
		for _, w := range []*Workload{vec, img, ml, hits, dl} {
			if w == hits && memory != Pinned {
				continue // it is no other program, only a slow one
			}
			dev := openWith(t, sim.Options{})
			in, err := w.New(dev, Params{Size: w.Tiny, Memory: memory})
			require.NoError(t, err)
			require.NoError(t, in.Measure(ctx, dev))
			for _, backend := range graphexec.Backends() {
				plan, err := in.Plan(dev, "nimble", backend)
				require.NoError(t, err)
				exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, backend)
				require.NoError(t, err)
				var took model.Time
				for range settle {
					d, err := replayOnce(ctx, dev, in, exec)
					require.NoError(t, err)
					took = model.Time(d.Nanoseconds()) * model.Nanosecond
				}
				took -= dev.(*sim.Device).Profile().Host.Synchronize
				assert.InEpsilon(t, int64(took/model.Nanosecond), plan.Schedule.Predicted, 0.001, "%s/%v, %v", w.Name, backend, memory)
				require.NoError(t, exec.Close())
			}
			require.NoError(t, in.Close())
		}
	}
}
