package shares

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func open(t testing.TB, profile string) device.Device {
	dev, err := sim.New(sim.Options{Profile: profile, Sample: 1})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, dev.Close()) })
	return dev
}

// TestSpinKernelsTakeTheirTime measures spin kernels of many shapes on two devices.
func TestSpinKernelsTakeTheirTime(t *testing.T) {
	for _, profile := range []string{"v100", "h200"} {
		s, err := newSpinner(open(t, profile))
		require.NoError(t, err)
		for _, blocks := range []uint32{0, 25, 5000} {
			for _, threads := range []uint32{0, 512} {
				for _, registers := range []uint32{0, 96} {
					for _, bound := range []sharing.Bound{sharing.Unknown, sharing.Memory} {
						for _, us := range []float64{50, 400} {
							k := Kernel{Blocks: blocks, Threads: threads, Registers: registers, Bound: bound, Time: time.Duration(us * 1000)}
							if blocks == 5000 && us == 50 && threads == 512 {
								continue // an iteration of so many threads takes a quarter of that
							}
							name := fmt.Sprintf("%s %+v", profile, k)
							o, err := s.op(&k)
							require.NoError(t, err, name)
							took, err := local.Timed(s.dev, s.stream, func() error { return s.dev.Submit(s.stream, o.work) })
							require.NoError(t, err)
							assert.InEpsilon(t, us, micros(took), 0.08, name)
						}
					}
				}
			}
		}
		require.NoError(t, s.close())
	}
}
