package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// With merged launches, no workload takes longer in virtual time, and results stay right. The table in docs/MERGING.md
// has the others.
func TestMergedWorkloadsAreNeverSlower(t *testing.T) {
	run := func(also ...string) []Record {
		records, err := Run(context.Background(), Config{
			Open:      func() (device.Device, error) { return sim.New(sim.Options{}) },
			Workloads: []*Workload{vec, img}, Sizes: []int{0}, Strategies: []string{"nimble"}, Also: also,
			Backends: graphexec.Backends(), Iterations: 1,
		})
		require.NoError(t, err)
		return records
	}
	without, with := run(), run("merge")
	shorter := 0
	for i := range with {
		assert.True(t, with[i].OK, "%v: %s", with[i], with[i].Error)
		assert.LessOrEqual(t, with[i].ReplayUS, without[i].ReplayUS+0.001, "%v", with[i]) // the clock has whole nanoseconds
		if with[i].ReplayUS < without[i].ReplayUS {
			shorter++
		}
	}
	assert.GreaterOrEqual(t, shorter, 2)
}
