package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// Work begins when its engine serves it, which copies of one direction wait for. On the
// handy profile a copy takes a microsecond per 1000 bytes.
func TestTimelineSaysWhenWorkRan(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in)) // before it is kept
	require.NoError(t, x.SynchronizeAll())
	x.StartTimeline()
	require.NoError(t, x.Submit(x.s1, &device.Copy{Dst: x.dev, Src: x.host, Bytes: 300_000, Label: "first"}))
	require.NoError(t, x.Submit(x.s2, &device.Copy{Dst: x.dev + 1<<19, Src: x.host, Bytes: 100_000, Label: "second"}))
	require.NoError(t, x.Submit(x.s2, &device.Memset{Dst: x.dev + 1<<19, Width: 1, Count: 8, Label: "third"}))
	require.NoError(t, x.SynchronizeAll())
	total, _, work := x.Timeline()
	require.Len(t, work, 3)
	const us = 1_000_000
	first, second, third := work[0], work[1], work[2]
	assert.Equal(t, "first second third", first.Name+" "+second.Name+" "+third.Name)
	assert.True(t, first.Transfer && second.Transfer)
	assert.False(t, third.Transfer, "a memset crosses no link")
	assert.InDelta(t, 300*us, first.End-first.Begin, us)
	assert.InDelta(t, 100*us, second.End-second.Begin, us)
	assert.Equal(t, first.End, second.Begin, "it queues")
	assert.Greater(t, second.Took, second.End-second.Begin, "which counts as its time")
	assert.GreaterOrEqual(t, third.Begin, second.End)
	assert.Positive(t, first.Begin, "the driver's call comes first")
	assert.LessOrEqual(t, third.End, total)
}
