package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestTransfersArePredicted expects good predictions for programs that are bound by transfers, in every memory mode.
// The estimates do not include instructions, but all bytes that cross the link.
func TestTransfersArePredicted(t *testing.T) {
	for _, memory := range []Memory{Pinned, Prefetch, Managed} {
		for _, w := range []*Workload{vec, bs} {
			dev := openWith(t, sim.Options{Sample: 8})
			in, err := w.New(dev, Params{Size: w.Sizes[0], Memory: memory, Sampled: true})
			require.NoError(t, err)
			plan, err := in.Plan(dev, "nimble", graphexec.Graph)
			require.NoError(t, err)
			exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, graphexec.Graph)
			require.NoError(t, err)
			var took float64
			for range 2 { // the first replay also transfers data that stay on the device
				d, err := replayOnce(context.Background(), dev, in, exec)
				require.NoError(t, err)
				took = float64(d.Nanoseconds())
			}
			assert.InEpsilon(t, took, float64(plan.Schedule.Predicted), 0.12, "%s, %v", w.Name, memory)
			require.NoError(t, exec.Close())
			require.NoError(t, in.Close())
		}
	}
}
