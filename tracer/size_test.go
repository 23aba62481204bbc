package tracer_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestNoBufferIsSmallerThanItsElements allocates more memory than the device has, of every kind, also with
// sizes in bytes that overflow to a small number. Nothing may be allocated.
func TestNoBufferIsSmallerThanItsElements(t *testing.T) {
	ways := map[string]func(*tracer.Tracer, ir.Type, int64) tracer.Buffer{
		"temporary": func(t *tracer.Tracer, e ir.Type, n int64) tracer.Buffer { return t.Alloc("b", e, n, ir.Temporary) },
		"input":     func(t *tracer.Tracer, e ir.Type, n int64) tracer.Buffer { return t.Alloc("b", e, n, ir.Input) },
		"pinned":    func(t *tracer.Tracer, e ir.Type, n int64) tracer.Buffer { return t.AllocHost("b", e, n, ir.InOut) },
		"managed":   func(t *tracer.Tracer, e ir.Type, n int64) tracer.Buffer { return t.AllocManaged("b", e, n, ir.InOut) },
	}
	simulated, err := sim.New(sim.Options{})
	require.NoError(t, err)
	for _, dev := range []interface {
		device.Device
		device.Accounter
	}{simulated, null.New()} {
		for name, alloc := range ways {
			for _, mode := range []tracer.Mode{tracer.Deferred, tracer.Eager, tracer.Direct} {
				for _, n := range []int64{1<<62 + 4, 1<<61 + 4, 1<<61 + 1, 1 << 61, 1 << 46, math.MaxInt64, math.MaxInt64 / 4, math.MaxInt64/8 + 1, math.MinInt64, -1} {
					tr := tracer.New(dev, "t", mode)
					b := alloc(tr, ir.F64, n)
					assert.ErrorContains(t, tr.Err(), "buffer @b", "%s of %d elements in %v on %s", name, n, mode, dev.Info().ID)
					assert.Zero(t, b.Bytes())
					assert.Zero(t, dev.Live().Bytes)
					_, err := tr.Finish()
					require.Error(t, err)
				}
				tr := tracer.New(dev, "t", mode)
				alloc(tr, ir.Type(99), 4)
				assert.ErrorContains(t, tr.Err(), "unknown type")
				_, err := tr.Finish()
				require.Error(t, err)
			}
		}
		require.NoError(t, dev.Close())
	}
}
