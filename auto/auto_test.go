package auto_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/autotest"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The device detects races: correct bytes do not prove that replays and single calls wait for each other.
func TestProgramsSeeTheSame(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 15
	}
	autotest.Programs(t, func() device.Device {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		return dev
	}, seeds)
}
