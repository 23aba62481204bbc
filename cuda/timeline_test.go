//go:build cuda && cgo

package cuda

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/internal/traced"
)

// TestTimeline records a timeline with the driver's events: every operation has a time, and none begins before those that it
// waits for have ended.
func TestTimeline(t *testing.T) {
	d := open(t)
	w, err := bench.LookupWorkload("img")
	require.NoError(t, err)
	in, err := w.New(d, bench.Params{Size: w.Tiny, Blocks: 8})
	require.NoError(t, err)
	plan, err := in.Plan(d, "nimble", graphexec.Streams)
	require.NoError(t, err)
	p := &timeline.Program{Name: w.Name, Graph: in.Trace.Graph, Bound: traced.BindingsOf(in.Trace), Reset: in.Reset}
	line, err := timeline.Record(context.Background(), d, p, plan.Schedule, graphexec.Streams)
	require.NoError(t, err)
	_, err = in.Check()
	require.NoError(t, err)
	assert.Equal(t, timeline.Events, line.Source)
	require.Len(t, line.Spans, plan.Schedule.Graph.Len())
	for _, s := range line.Spans {
		assert.Less(t, s.Begin, s.End, s.Title())
		assert.LessOrEqual(t, s.End, line.Total, s.Title())
	}
	require.NotEmpty(t, line.Waits())
	const resolution = 1_000_000 // ps: the driver counts in half microseconds
	for _, w := range line.Waits() {
		assert.LessOrEqual(t, line.Spans[w.From].End, line.Spans[w.To].Begin+resolution)
	}
	require.NoError(t, in.Close())
	require.NoError(t, d.Close())
}
