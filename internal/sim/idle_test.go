package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
)

// Time passes for a host that makes no call only as far as there is something to notice.
func TestIdle(t *testing.T) {
	a, b := pair(t, Options{})
	s := a.gpu.system
	ran := 0
	a.ok(a.Submit(a.streams[0], fillOf(a.buffers[0], 3)))
	before := s.Now()
	s.Idle()
	assert.False(t, s.Noticeable())
	assert.Equal(t, before, s.Now(), "a fill is nothing that the host would notice")
	a.ok(a.Submit(a.streams[0], &device.HostCall{Func: func() error { ran++; return nil }}))
	b.ok(b.Submit(b.streams[0], &device.HostCall{Func: func() error { ran++; return nil }}))
	a.ok(a.Submit(a.streams[0], fillOf(a.buffers[0], 4)))
	assert.True(t, s.Noticeable())
	s.Idle()
	assert.Equal(t, 2, ran)
	assert.False(t, s.Noticeable())
	assert.Less(t, s.Now()-before, time.Millisecond)
	assert.ErrorContains(t, a.Query(a.streams[0]), "under way", "what comes after the host call has not ended")
	a.ok(a.Synchronize(a.streams[0]))
	assert.EqualValues(t, 4, a.word(a.buffers[0]))
}

// A value that the host stores without a call ends a wait.
func TestIdleSeesStores(t *testing.T) {
	r := newUncheckedRig(t, Options{})
	s := r.gpu.system
	ran := false
	p, words := r.lend()
	r.ok(r.Submit(r.streams[0], &Values{Ops: []ValueOp{{Kind: WaitEqual, Ptr: p, Value: 5, Width: 4}}}))
	r.ok(r.Submit(r.streams[0], &device.HostCall{Func: func() error { ran = true; return nil }}))
	s.Idle()
	assert.True(t, s.Noticeable())
	assert.False(t, ran)
	words[0] = 5
	s.Idle()
	assert.True(t, ran)
	assert.False(t, s.Noticeable())
}

// A host call behind a fault is not made, and is nothing to wait for.
func TestNoticeableEnds(t *testing.T) {
	r := newUncheckedRig(t, Options{})
	s := r.gpu.system
	r.ok(r.Submit(r.streams[0], r.launchAffine(1, 2, 3, 4)))
	r.ok(r.Submit(r.streams[0], &device.HostCall{Func: func() error { t.Error("it comes after a fault"); return nil }}))
	s.Idle()
	assert.False(t, s.Noticeable())
	assert.Error(t, r.SynchronizeAll())
}
