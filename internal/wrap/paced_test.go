package wrap_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// TestPacedWorkTakesTime runs work on two streams, one of which waits for the other, and a graph.
func TestPacedWorkTakesTime(t *testing.T) {
	const unit = 10 * time.Millisecond
	d := wrap.Paced(null.New(), func(device.Work) time.Duration { return unit })
	a, err := d.CreateStream(0)
	require.NoError(t, err)
	b, err := d.CreateStream(0)
	require.NoError(t, err)
	e, err := d.CreateEvent()
	require.NoError(t, err)
	g, err := d.CreateGraph()
	require.NoError(t, err)
	for range 2 {
		_, err = d.AddNode(g, nil, device.Nothing{})
		require.NoError(t, err)
	}
	x, err := d.Instantiate(g)
	require.NoError(t, err)
	at := func(what string, least int, s device.Stream, start time.Time) {
		require.NoError(t, d.Synchronize(s))
		assert.GreaterOrEqual(t, time.Since(start), time.Duration(least)*unit, what)
	}

	start := time.Now()
	require.NoError(t, d.Submit(a, device.Nothing{}))
	require.NoError(t, d.LaunchGraph(x, a))
	require.NoError(t, d.Record(e, a))
	require.NoError(t, d.Submit(b, device.Nothing{}))
	require.NoError(t, d.Wait(b, e))
	require.NoError(t, d.Submit(b, device.Nothing{}))
	at("a kernel and a graph of two nodes", 3, a, start)
	at("work behind an event", 4, b, start)
	again := time.Now()
	require.NoError(t, d.Submit(a, device.Nothing{}))
	require.NoError(t, d.SynchronizeAll())
	assert.GreaterOrEqual(t, time.Since(again), unit)
}
