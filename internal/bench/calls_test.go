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

// TestDriverCallsOfAReplay expects one call for a graph, one for each operation in a stream, and one for the wait.
func TestDriverCallsOfAReplay(t *testing.T) {
	records, err := Run(context.Background(), Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{}) },
		Workloads:  Workloads(),
		Sizes:      []int{64},
		Strategies: []string{"serial", "nimble"},
		Backends:   graphexec.Backends(),
		Iterations: 1,
	})
	require.NoError(t, err)
	for _, r := range records {
		switch {
		case r.Backend == "graph":
			assert.Equal(t, 2, r.DriverCalls, r.Workload)
		case r.Strategy == "serial":
			assert.Equal(t, r.Ops+1, r.DriverCalls, r.Workload)
		default:
			assert.GreaterOrEqual(t, r.DriverCalls, r.Ops+1+r.Syncs, r.Workload)
		}
	}
}
