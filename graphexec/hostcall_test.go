package graphexec_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// failsThird returns a host function that counts its calls. The third fails with the cause, or panics with it.
func failsThird(calls *int, cause error, panics bool) func() error {
	return func() error {
		if *calls++; *calls != 3 {
			return nil
		}
		if panics {
			panic(cause)
		}
		return cause
	}
}

// A host function that fails, or panics, in the third replay is an error of that replay, with its operation and line. The
// replays that follow run, and everything can be closed.
func TestHostFunctionsMayFail(t *testing.T) {
	cause := errors.New("third look")
	for _, panics := range []bool{false, true} {
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			dev := simulated(t)
			tr := tracer.New(dev, "looks", tracer.Deferred)
			h := tr.AllocHost("h", ir.F32, 4, ir.InOut)
			x := tr.Alloc("x", ir.F32, 4, ir.InOut)
			looks := 0
			tr.Copy(h, x)
			tr.HostCall("look", failsThird(&looks, cause, panics), tracer.Use{Buffer: h, Mode: ir.Read})
			trace, err := tr.Finish()
			require.NoError(t, err)
			exec, err := graphexec.Instantiate(dev, planned(t, trace.Graph), trace, form)
			require.NoError(t, err)
			for i := 1; i <= 5; i++ {
				require.NoError(t, exec.Replay(context.Background()))
				err := exec.Wait(context.Background())
				if i != 3 {
					require.NoError(t, err, "replay %d", i)
					continue
				}
				var failed *device.HostError
				require.ErrorAs(t, err, &failed)
				require.ErrorIs(t, err, cause)
				assert.Equal(t, panics, failed.Panic != nil)
				assert.ErrorContains(t, err, "look at graphexec/hostcall_test.go:")
			}
			require.Equal(t, 5, looks)
			require.NoError(t, device.Join(exec.Close(), trace.Close(), dev.Close()))
		})
	}
}

// In a trace that runs, the error is the trace's, and the device is free for another.
func TestHostFunctionsMayFailWhileTheyAreTraced(t *testing.T) {
	for _, mode := range []tracer.Mode{tracer.Eager, tracer.Direct} {
		dev := simulated(t)
		tr := tracer.New(dev, "looks", mode)
		tr.HostCall("look", func() error { panic("first look") })
		tr.Synchronize()
		var failed *device.HostError
		require.ErrorAs(t, tr.Err(), &failed)
		assert.ErrorContains(t, tr.Err(), "look at graphexec/hostcall_test.go:")
		_, err := tr.Finish()
		require.ErrorAs(t, err, &failed)
		trace, _ := squares(t, dev, "next", 8, true)
		exec, err := graphexec.Instantiate(dev, planned(t, trace.Graph), trace, graphexec.Streams)
		require.NoError(t, err)
		require.NoError(t, exec.Replay(context.Background()))
		require.NoError(t, device.Join(exec.Close(), trace.Close(), dev.Close()))
	}
}

// A host function that fails in an iteration of a loop is the error of that run. The runs that follow go on, and everything can be closed.
func TestHostFunctionsOfLoopsMayFail(t *testing.T) {
	cause := errors.New("third look")
	for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled} {
		for _, panics := range []bool{false, true} {
			dev := simulated(t)
			tr := tracer.New(dev, "looks", tracer.Deferred)
			h, x := tr.AllocHost("h", ir.F32, 4, ir.InOut), tr.Alloc("x", ir.F32, 4, ir.InOut)
			looks := 0
			tr.Copy(x, h)
			tr.HostCall("look", failsThird(&looks, cause, panics), tracer.Use{Buffer: h, Mode: ir.Read})
			trace, err := tr.Finish()
			require.NoError(t, err)
			loopExec, err := loop.Instantiate(dev, loop.Loop{
				Body: planned(t, trace.Graph), Until: loop.Until{Buffer: x.ID(), Is: ir.Below, Value: -1},
				MaxIterations: 4, Lowering: lowering,
			}, trace)
			require.NoError(t, err)
			_, err = loopExec.Run(context.Background())
			var failed *device.HostError
			require.ErrorAs(t, err, &failed, "%v", lowering)
			require.ErrorIs(t, err, cause)
			assert.Equal(t, panics, failed.Panic != nil)
			assert.ErrorContains(t, err, "look at graphexec/hostcall_test.go:")
			done, err := loopExec.Run(context.Background())
			require.NoError(t, err, "%v", lowering)
			assert.Equal(t, 4, done.Iterations)
			require.NoError(t, device.Join(loopExec.Close(), trace.Close(), dev.Close()))
		}
	}
}
