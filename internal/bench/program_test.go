package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// TestDeviceMemoryIsInTheOrderOfTheTrace compares the order of allocations with the C++ programs, which allocate in the
// order of the trace, including temporaries.
func TestDeviceMemoryIsInTheOrderOfTheTrace(t *testing.T) {
	for _, w := range Workloads() {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		in, err := w.New(dev, Params{Size: w.Tiny})
		require.NoError(t, err)
		last := device.Ptr(0)
		for i := range in.Trace.Graph.Buffers {
			if b := &in.Trace.Graph.Buffers[i]; b.Place.Kind == ir.OnDevice {
				at := in.Trace.Pointer(ir.BufferID(i))
				assert.Greater(t, at, last, "%s: @%s", w.Name, b.Name)
				last = at
			}
		}
		require.NoError(t, in.Close())
		require.NoError(t, dev.Close())
	}
}
