package vcycle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
)

// TestCyclesSolve replays five cycles and compares the solution and the residual with those of the host. Each cycle divides
// the norm of the residual by at least five.
func TestCyclesSolve(t *testing.T) {
	dev, err := reprise.OpenChecked("sim")
	require.NoError(t, err)
	defer dev.Close()
	trace, b, err := Record(dev)
	require.NoError(t, err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	require.NoError(t, err)
	defer exec.Close()
	f, want := make([]float32, b.F.Len()), make([]float64, b.F.Len())
	exact := make([]float64, len(f))
	for y := 1; y <= N; y++ {
		for x := 1; x <= N; x++ {
			f[y*(N+2)+x] = float32(math.Sin(float64(x * y)))
			exact[y*(N+2)+x] = float64(f[y*(N+2)+x])
		}
	}
	require.NoError(t, reprise.Write(b.F, f))
	require.NoError(t, reprise.Write(b.U, make([]float32, len(f))))
	before := math.Inf(1)
	for range 5 {
		require.NoError(t, exec.Replay(t.Context()))
		require.NoError(t, exec.Wait(t.Context()))
		norm := Cycle(want, exact)
		got := make([]float32, len(f))
		require.NoError(t, reprise.Read(got, b.U))
		for i := range got {
			require.InDelta(t, want[i], got[i], 1e-5)
		}
		var sum [1]float32
		require.NoError(t, reprise.Read(sum[:], b.Norm))
		assert.InDelta(t, norm, sum[0], 1e-4*norm+1e-9)
		assert.Less(t, norm, before/25)
		before = norm
	}
}
