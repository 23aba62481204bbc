//go:build cuda && cgo

package cuda

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestReplaysMakeTheCallsThatAreCounted compares the device's count of driver calls with
// the driver's own count, so that replays and C++ programs are measured alike. The
// driver counts two more calls for each crossing into C: one makes the context current, one restores the previous
// context. Both are necessary because a goroutine has no thread of its own.
func TestReplaysMakeTheCallsThatAreCounted(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, whose driver does not count")
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // finalizers of objects from other tests would call the driver, too
	dev, err := openGPU(0)
	require.NoError(t, err)
	defer func() { assert.NoError(t, dev.Close()) }()
	var calls atomic.Int64
	crossings := 0
	counted := wrap.Intercept(wrap.Counting(dev, &calls), func(_ *wrap.Call, next func() error) error {
		crossings++
		return next()
	})
	for _, w := range bench.Workloads() {
		in, err := w.New(counted, bench.Params{Size: w.Tiny})
		require.NoError(t, err)
		for _, backend := range graphexec.Backends() {
			for _, strategy := range []string{"serial", "nimble"} {
				plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{Strategy: strategy})
				require.NoError(t, err)
				exec, err := graphexec.Instantiate(counted, plan.Schedule, in.Trace, backend)
				require.NoError(t, err)
				require.NoError(t, in.Reset())
				before := lazycuda.Calls()
				calls.Store(0)
				crossings = 0
				require.NoError(t, exec.Replay(context.Background()))
				require.NoError(t, exec.Wait(context.Background()))
				assert.EqualValues(t, lazycuda.Calls()-before, calls.Load()+2*int64(crossings), "%s %s/%v", w.Name, strategy, backend)
				require.NoError(t, exec.Close())
			}
		}
		require.NoError(t, in.Close())
	}
}
