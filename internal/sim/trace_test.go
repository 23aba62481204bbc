package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

func TestTraceTellsWhatRanWhen(t *testing.T) {
	var got []Span
	x := newTimeline(t, func(s Span) { got = append(got, s) })
	require.NoError(t, x.Submit(x.s1, x.in))  // at 100
	require.NoError(t, x.Submit(x.s2, x.out)) // at 200
	require.NoError(t, x.Submit(x.s2, &device.HostCall{Label: "report", Func: func() error { return nil }}))
	require.NoError(t, x.SynchronizeAll())
	const us = time.Microsecond
	assert.Equal(t, []Span{
		{"copy", "", 110 * us, 410 * us},
		{"copy", "", 210 * us, 410 * us},
		{"host call", "report", 412 * us, 419 * us},
	}, got)
}

func TestTraceNamesKernels(t *testing.T) {
	var got []string
	r := newUncheckedRig(t, Options{Trace: func(s Span) { got = append(got, s.Kind+" "+s.Label) }})
	l := r.launchAdd(r.buffers[0], r.buffers[1], r.buffers[2])
	r.ok(r.Submit(r.streams[0], l))
	l.Label = "step"
	r.ok(r.Submit(r.streams[0], l))
	r.ok(r.SynchronizeAll())
	assert.Equal(t, []string{"launch add", "launch step"}, got)
}
