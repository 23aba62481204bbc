// Package autotest checks automatic replay on any device. It compares random programs with loops with the same programs
// run call by call.
package autotest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/tracertest"
	"github.com/reprise-gpu/reprise/tracer"
)

// Programs runs random programs with automatic replay and call by call, and requires that both read the same results.
// seeds is the number of programs. open returns a new device, which Programs closes. At least a third of all calls must
// be replayed, and some replays must be updated.
func Programs(t *testing.T, open func() device.Device, seeds uint64) {
	for _, form := range graphexec.Backends() {
		var all auto.Stats
		for seed := range seeds {
			p := tracertest.Random(seed)
			plain, watched := open(), open()
			want, _ := run(t, p, plain, tracer.New(plain, "direct", tracer.Direct))
			got, s := run(t, p, watched, auto.New(watched, "auto", auto.Options{Backend: form}))
			require.Equal(t, want, got, "seed %d, %v", seed, form)
			all.Calls, all.Replayed, all.Updates = all.Calls+s.Calls, all.Replayed+s.Replayed, all.Updates+s.Updates
		}
		t.Logf("%v: %d of %d calls were replayed, with %d updates", form, all.Replayed, all.Calls, all.Updates)
		require.Greater(t, all.Replayed, all.Calls/3)
		require.Positive(t, all.Updates)
	}
}

func run(t *testing.T, p *tracertest.Program, dev device.Device, tr *tracer.Tracer) ([][]uint32, auto.Stats) {
	seen := p.Run(t, tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, trace.Close())
	if live, ok := dev.(device.Accounter); ok {
		require.Zero(t, live.Live())
	}
	require.NoError(t, dev.Close())
	return seen, auto.StatsOf(tr)
}
