//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/autotest"
)

// TestWatchedProgramsSeeTheSame runs the checks of autotest on this driver.
func TestWatchedProgramsSeeTheSame(t *testing.T) {
	autotest.Programs(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, 10)
}
