package auto_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestAFaultInAReplayNamesTheLine expects that a kernel that accesses memory out of bounds in the seventh
// iteration, in a replay, is named with its line, by whichever call detects the fault first.
func TestAFaultInAReplayNamesTheLine(t *testing.T) {
	for _, form := range graphexec.Backends() {
		for _, look := range []string{"read", "synchronize", "finish"} {
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			tr := auto.New(dev, "p", auto.Options{Backend: form})
			square, _ := kernels.Lookup("square")
			k := tr.Module(square.File, square.PTX).Kernel("square")
			x := tr.Alloc("x", ir.F32, 64, ir.InOut)
			y := tr.Alloc("y", ir.F32, 64, ir.InOut)
			var line int
			for i := range 10 {
				n := 64 - i
				if i == 6 {
					n = 1 << 20
				}
				tr.Memset(y, 0)
				_, _, line, _ = runtime.Caller(0)
				tr.Launch(k, tracer.Linear(2, 64), x, y, n)
				tr.Memset(x, 1)
				tr.Launch(k, tracer.Linear(1, 64), y, x, i)
			}
			assert.Zero(t, auto.StatsOf(tr).Misses, "it is in a replay")
			switch look {
			case "read":
				err = tracer.Read(make([]float32, 64), x)
			case "synchronize":
				tr.Synchronize()
				err = tr.Err()
			}
			_, last := tr.Finish()
			if look == "finish" {
				err = last
			}
			for _, err := range []error{err, last} {
				assert.Equal(t, device.IllegalAddress, device.CodeOf(err), "%v, %s", form, look)
				assert.ErrorContains(t, err, fmt.Sprintf("square at auto/fault_test.go:%d", line+1), "%v, %s", form, look)
				assert.NotContains(t, err.Error(), "tracer.go")
			}
			_ = dev.Close()
		}
	}
}

// An engine for one device cannot replay what a program does on another: that is no reason not to replay, but
// an error.
func TestAnEngineOfAnotherDeviceIsAnError(t *testing.T) {
	one, err := sim.New(sim.Options{})
	require.NoError(t, err)
	two, err := sim.New(sim.Options{})
	require.NoError(t, err)
	tr := auto.Start(one, "p", auto.Planner(two, auto.Options{}))
	square, _ := kernels.Lookup("square")
	k := tr.Module(square.File, square.PTX).Kernel("square")
	x := tr.Alloc("x", ir.F32, 64, ir.InOut)
	for range 40 {
		tr.Launch(k, tracer.Linear(1, 64), x, x, 64)
	}
	require.ErrorIs(t, tr.Err(), device.ErrOtherDevice)
	_, err = tr.Finish()
	require.ErrorIs(t, err, device.ErrOtherDevice)
}
