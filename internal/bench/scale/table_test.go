package scale

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableStatesWhereThereIsNoGain(t *testing.T) {
	small := 1e-6
	var b strings.Builder
	require.NoError(t, WriteTable(&b, []Record{
		{Workload: "wave", Size: "8x8", Ranks: 1, Devices: 2, StepUS: 10, Efficiency: 1, MaxError: &small, OK: true, Executed: true, SchedulerUS: 30, Gain: 3},
		{Workload: "wave", Size: "8x8", Ranks: 2, Devices: 4, StepUS: 100, Efficiency: 0.5, OK: true, SchedulerUS: 30, Gain: 1},
		{Workload: "wave", Size: "8x8", Ranks: 2, Devices: 4, MaxError: &small, Executed: true},
	}))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 4)
	for i, want := range []string{"error scheduler us gain", "executed 1.0e-06 30.0 3.00", "timed - 30.0 none", "executed WRONG 0.0 none"} {
		assert.True(t, strings.HasSuffix(strings.Join(strings.Fields(lines[i]), " "), want), lines[i])
	}
}

// The costs of the model are the published ones where these exist, and on straight lines elsewhere.
func TestSchedulerFollowsPublishedCosts(t *testing.T) {
	var s Scheduler
	assert.InDelta(t, 4.6+18.7, s.TaskUS(1, 1), 1e-9)
	assert.InDelta(t, 10.1+65.5, s.TaskUS(4, 4), 1e-9)
	assert.InDelta(t, 23.0+249.5, s.TaskUS(16, 16), 1e-9)
	assert.InDelta(t, 4.6+(18.7+65.5)/2, s.TaskUS(1, 2)+(65.5-18.7)/6, 1e-9)
	assert.InDelta(t, 40.2+65.5, s.TaskUS(32, 4), 1e-9)
}

// The steady host of the wave equation on 4 devices is busy for at most 10 us.
func TestHostIsQuick(t *testing.T) {
	m := lookup(t, "h200-4")
	r := run(t, m, "wave:64", 4, 0)
	assert.Positive(t, r.HostUS)
	assert.LessOrEqual(t, r.HostUS, 10.0)
}
