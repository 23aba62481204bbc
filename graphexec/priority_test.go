package graphexec_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// A launch that fills the device for many waves, and a short one that a chain waits for. The
// chain takes less when its launches need not wait for the waves, in either form.
func TestLaunchesHaveThePriorityOfTheSchedule(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, dev.Close()) }()
		tr := tracer.New(dev, "crowd", tracer.Deferred)
		square := (&run{t: t, tr: tr}).kernel("square")
		const n = 1 << 18
		wide, narrow := tr.Alloc("wide", ir.F32, n, ir.InOut), tr.Alloc("narrow", ir.F32, n, ir.InOut)
		tr.Launch(square, tracer.Linear(1<<16, 256), wide, wide, n)
		for range 8 {
			tr.Launch(square, tracer.Linear(1<<12, 64), narrow, narrow, n)
		}
		trace, err := tr.Finish()
		require.NoError(t, err)
		defer func() { require.NoError(t, trace.Close()) }()
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
		require.NoError(t, err)

		took := func(urgent ...int32) time.Duration {
			s := *plan.Schedule
			s.Priority = urgent
			x, err := graphexec.Instantiate(dev, &s, trace, form)
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			var last time.Duration
			for range 3 { // the first finds nothing in the caches
				start := dev.Now()
				require.NoError(t, x.Replay(t.Context()))
				require.NoError(t, x.Wait(context.Background()))
				last = dev.Now() - start
			}
			return last
		}
		without := took()
		assert.InDelta(t, float64(without), float64(took(0, 0, 0, 0, 0, 0, 0, 0, 0)), 2, "ns: times of day are rounded")
		assert.Less(t, took(0, -1, -1, -1, -1, -1, -1, -1, -1), without)
	})
}
