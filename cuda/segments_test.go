//go:build cuda && cgo

package cuda

import (
	goflag "flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
)

var segmentCases = goflag.Int("cases", 100, "replays by segments that TestSegments makes, and stops that TestRunners makes")

// TestSegments runs graphexectest.Segments on this driver.
func TestSegments(t *testing.T) {
	graphexectest.Segments(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, *segmentCases)
}

// TestRunners runs graphexectest.Runners on this driver.
func TestRunners(t *testing.T) {
	graphexectest.Runners(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, *segmentCases)
}
