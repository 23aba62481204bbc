package bench

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestPassesBesidesKeepResults expects correct results of each workload with every optional pass.
func TestPassesBesidesKeepResults(t *testing.T) {
	also := []string{"copyelim", "dce", "prefetch", "priorities", "memplan"}
	records, err := Run(context.Background(), Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{Race: sim.RaceOn}) },
		Workloads:  Workloads(),
		Sizes:      []int{0},
		Strategies: []string{"nimble"},
		Also:       also,
		Backends:   graphexec.Backends(),
		Iterations: 1,
	})
	require.NoError(t, err)
	require.Len(t, records, 2*len(Workloads()))
	for _, r := range records {
		assert.True(t, r.OK, "%v: %s", &r, r.Error)
		assert.Equal(t, strings.Join(also, ","), r.Also)
	}
}

// TestEstimatesAreNotMeasurements expects at least one plan with estimates to differ from that with measurements;
// otherwise the flag would have no effect.
func TestEstimatesAreNotMeasurements(t *testing.T) {
	times := map[bool]float64{}
	for _, estimate := range []bool{false, true} {
		records, err := Run(context.Background(), Config{
			Open:       func() (device.Device, error) { return sim.New(sim.Options{}) },
			Workloads:  []*Workload{hits},
			Sizes:      []int{0},
			Strategies: []string{"nimble"},
			Estimate:   estimate,
			Backends:   []graphexec.Backend{graphexec.Streams},
			Iterations: 1,
		})
		require.NoError(t, err)
		times[estimate] = records[0].ReplayUS
	}
	assert.Less(t, times[false], times[true])
}
