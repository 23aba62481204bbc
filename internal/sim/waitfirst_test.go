package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The host wakes at the first event that completes, or at the given time if that is earlier.
func TestWaitFirst(t *testing.T) {
	r := newUncheckedRig(t, Options{})
	const never = time.Duration(1 << 60)
	start := r.Now()
	r.ok(r.WaitFirst(start+time.Millisecond, r.events[0]))
	assert.Equal(t, start, r.Now(), "an event that was never recorded has completed")
	r.ok(r.WaitFirst(start + time.Millisecond))
	assert.Equal(t, start+time.Millisecond, r.Now(), "nothing to wait for")

	for range 50 { // the first stream is busy for longer
		r.ok(r.Submit(r.streams[0], r.launchAffine(r.buffers[0], r.buffers[0], 1, 1)))
	}
	r.ok(r.Submit(r.streams[1], r.launchAffine(r.buffers[1], r.buffers[1], 1, 1)))
	r.ok(r.Record(r.events[0], r.streams[0]))
	r.ok(r.Record(r.events[1], r.streams[1]))
	now := r.Now()
	r.ok(r.WaitFirst(now+time.Nanosecond, r.events[0], r.events[1]))
	assert.Equal(t, now+time.Nanosecond, r.Now())
	r.ok(r.WaitFirst(never, r.events[0], r.events[1]))
	r.ok(r.QueryEvent(r.events[1]))
	assert.Error(t, r.QueryEvent(r.events[0]), "the other stream is still busy")
	early := r.Now()
	r.ok(r.WaitFirst(never, r.events[0]))
	r.ok(r.QueryEvent(r.events[0]))
	assert.Greater(t, r.Now(), early)
	assert.EqualValues(t, 50, r.word(r.buffers[0]))

	assert.Error(t, r.WaitFirst(never, 999))
}
