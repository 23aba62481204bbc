package solver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// TestErrorsOfCleaningUpAreReported has each call that frees fail in turn, in every mode.
func TestErrorsOfCleaningUpAreReported(t *testing.T) {
	triplets := sparse.NewTriplets(2, 2)
	triplets.Add(0, 0, 2)
	triplets.Add(1, 1, 1)
	a, err := triplets.CSR()
	require.NoError(t, err)
	for _, mode := range Modes() {
		for _, method := range []string{"Free", "UnloadModule", "DestroyStream"} {
			for n := range 2 {
				dev, err := sim.New(sim.Options{})
				require.NoError(t, err)
				calls := 0
				failing := wrap.Faults(dev, func(_ int, called string) device.Code {
					if called != method {
						return 0
					}
					if calls++; calls == n+1 {
						return device.InvalidValue
					}
					return 0
				})
				_, _, err = Solve(context.Background(), failing, a, []float64{1, 1}, Options{Mode: mode})
				if calls > n {
					require.Equal(t, device.InvalidValue, device.CodeOf(err), "%v: %s %d: %v", mode, method, n, err)
				} else {
					require.NoError(t, err)
				}
				_ = dev.Close()
			}
		}
	}
}
