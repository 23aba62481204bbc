package auto_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// A host function of a watched program that fails, before anything is replayed or between replays, is the
// error of the tracer. Everything can be closed.
func TestHostFunctionsMayFail(t *testing.T) {
	cause := errors.New("one look too many")
	for _, at := range []int{1, 2, 3, 20} {
		for _, panics := range []bool{false, true} {
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			tr := auto.New(dev, "looks", auto.Options{})
			h, x := tr.AllocHost("h", ir.F32, 4, ir.InOut), tr.Alloc("x", ir.F32, 4, ir.InOut)
			looks := 0
			look := func() error {
				if looks++; looks != at {
					return nil
				}
				if panics {
					panic(cause)
				}
				return cause
			}
			for i := 1; i <= at; i++ {
				require.NoError(t, tr.Err())
				for range 4 {
					tr.Copy(x, h)
				}
				tr.HostCall("look", look, tracer.Use{Buffer: h, Mode: ir.Read})
				tr.Synchronize()
			}
			var failed *device.HostError
			assert.Equal(t, at > 1, auto.StatsOf(tr).Replays > 0)
			require.ErrorAs(t, tr.Err(), &failed, "look %d", at)
			require.ErrorIs(t, tr.Err(), cause)
			assert.Equal(t, panics, failed.Panic != nil)
			assert.ErrorContains(t, tr.Err(), "look at auto/hostcall_test.go:")
			_, err = tr.Finish()
			require.ErrorIs(t, err, cause)
			require.Zero(t, dev.Live())
			require.NoError(t, dev.Close())
		}
	}
}
