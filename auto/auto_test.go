package auto_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/autotest"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Races are looked for, since right bytes do not show that replays and calls in between wait for each other.
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
