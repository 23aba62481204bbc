//go:build cuda && cgo

package cuda

import (
	goflag "flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
)

var segmentCases = goflag.Int("cases", 60, "replays by segments that TestSegments makes")

// TestSegments runs graphexectest.Segments on this driver.
func TestSegments(t *testing.T) {
	graphexectest.Segments(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, *segmentCases)
}
