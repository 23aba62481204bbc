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
// has larger sizes. The larger programs are sampled.
func TestMergedWorkloadsAreNeverSlower(t *testing.T) {
	type group struct {
		workloads []*Workload
		sample    int64
		shorter   int // rows that gain, at least
	}
	groups := []group{{[]*Workload{vec, img}, 0, 2}, {[]*Workload{bs, ml, hits, dl, sgemm}, 1, 1}}
	if !testing.Short() {
		groups = append(groups, group{[]*Workload{resnet18, mobilenetV2}, 1, 1})
	}
	for _, c := range groups {
		run := func(also ...string) []Record {
			records, err := Run(context.Background(), Config{
				Open:      func() (device.Device, error) { return sim.New(sim.Options{Sample: c.sample}) },
				Workloads: c.workloads, Sizes: []int{0}, Strategies: []string{"nimble"}, Also: also, Sample: c.sample,
				Backends: graphexec.Backends(), Iterations: 1,
			})
			require.NoError(t, err)
			return records
		}
		without, with := run(), run("merge")
		shorter := 0
		for i := range with {
			t.Logf("%s %s: %.2f us, %.2f us merged", with[i].Workload, with[i].Backend, without[i].ReplayUS, with[i].ReplayUS)
			assert.True(t, with[i].OK || c.sample > 0, "%v: %s", with[i], with[i].Error)
			assert.LessOrEqual(t, with[i].ReplayUS, without[i].ReplayUS+0.001, "%v", with[i]) // the clock has whole nanoseconds
			if with[i].ReplayUS < without[i].ReplayUS {
				shorter++
			}
		}
		assert.GreaterOrEqual(t, shorter, c.shorter)
	}
}
