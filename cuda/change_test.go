//go:build cuda

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/graphexectest"
)

// TestChangesLeaveTheBytesOfChangedPrograms is that of graphexec, on this driver.
func TestChangesLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 12
	}
	graphexectest.Changes(t, func() device.Device {
		dev, err := Open(0)
		require.NoError(t, err)
		return dev
	}, seeds)
}

// TestChangesOfLoopsLeaveTheBytesOfChangedPrograms is that of graphexec, on this driver.
func TestChangesOfLoopsLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	graphexectest.Loops(t, func() device.Device {
		dev, err := Open(0)
		require.NoError(t, err)
		return dev
	}, seeds)
}
