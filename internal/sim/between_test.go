package sim

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// pair is two devices of a system.
func pair(t *testing.T, o Options) (a, b *rig) {
	s := NewSystem()
	o.On = s.GPU(1 << 30)
	a = newUncheckedRig(t, o)
	o.On = s.GPU(1 << 30)
	b = newUncheckedRig(t, o)
	a.ok(a.EnablePeer(b.Device))
	b.ok(b.EnablePeer(a.Device))
	return a, b
}

func fillOf(p device.Ptr, v uint32) *device.Memset {
	return &device.Memset{Dst: p, Value: v, Width: 4, Count: rigWords}
}

// The host has one time, whichever device it calls.
func TestDevicesOfASystemShareTheHostsTime(t *testing.T) {
	a, b := pair(t, Options{})
	before := b.Now()
	a.WaitUntil(a.Now() + time.Second)
	assert.Equal(t, before+time.Second, b.Now())
	took := a.took(a.launchAffine(a.buffers[0], a.buffers[1], 1, 1))
	assert.Equal(t, before+time.Second+time.Duration(took), b.Now())
}

// A device takes the same time whether or not another of its system has work.
func TestDevicesOfASystemDoNotSlowEachOther(t *testing.T) {
	alone := newUncheckedRig(t, Options{})
	want := alone.took(alone.launchAffine(alone.buffers[0], alone.buffers[1], 1, 1))
	a, b := pair(t, Options{})
	for range 10 {
		b.ok(b.Submit(b.streams[0], b.launchAffine(b.buffers[0], b.buffers[1], 1, 1)))
	}
	assert.Equal(t, want, a.took(a.launchAffine(a.buffers[0], a.buffers[1], 1, 1)))
}

func TestAStreamWaitsForAnEventOfAPeer(t *testing.T) {
	for _, race := range []Race{RaceOff, RaceOn} {
		a, b := pair(t, Options{Race: race})
		a.ok(a.Submit(a.streams[0], fillOf(a.buffers[0], 3)))
		a.ok(a.Record(a.events[0], a.streams[0]))
		b.ok(b.WaitPeer(b.streams[0], a.Device, a.events[0]))
		b.ok(b.Submit(b.streams[0], &device.Copy{Dst: b.buffers[0], Src: a.buffers[0], Bytes: 4 * rigWords}))
		b.ok(b.Record(b.events[0], b.streams[0]))
		a.ok(a.WaitPeer(a.streams[1], b.Device, b.events[0]))
		a.ok(a.Submit(a.streams[1], fillOf(a.buffers[0], 4)))
		a.ok(a.Synchronize(a.streams[1]))
		assert.EqualValues(t, 3, b.word(b.buffers[0]))
		assert.EqualValues(t, 4, a.word(a.buffers[0]))
		assert.Empty(t, a.Findings(), "the two fills are ordered by way of the peer")
		assert.Empty(t, b.Findings())
	}
}

// The same without one of the waits is a race, which the device of the later work reports.
func TestRacesBetweenDevicesAreFound(t *testing.T) {
	a, b := pair(t, Options{Race: RaceOn})
	a.ok(a.Submit(a.streams[0], fillOf(a.buffers[0], 3)))
	b.ok(b.Submit(b.streams[0], &device.Copy{Dst: b.buffers[0], Src: a.buffers[0], Bytes: 4 * rigWords}))
	assert.ErrorContains(t, b.Synchronize(b.streams[0]), "race: bytes 0-1199 of the 1200-byte allocation")
	assert.Len(t, b.Findings(), 1)
	a.ok(a.SynchronizeAll())

	// The copy reads what a later fill of the other device writes.
	b.ok(b.Submit(b.streams[0], &device.Copy{Dst: b.buffers[1], Src: a.buffers[1], Bytes: 4 * rigWords}))
	a.ok(a.Submit(a.streams[0], fillOf(a.buffers[1], 4)))
	errs := []error{a.SynchronizeAll(), b.SynchronizeAll()}
	assert.ErrorContains(t, errors.Join(errs...), "race: bytes 0-1199 of the 1200-byte allocation")
	assert.Len(t, slices.Concat(a.Findings(), b.Findings()), 2)
}

// Waits for other systems' events are refused: there is no order between their times.
func TestDevicesOfTwoSystemsAreStrangers(t *testing.T) {
	a, b := newUncheckedRig(t, Options{}), newUncheckedRig(t, Options{})
	for _, err := range []error{
		a.WaitPeer(a.streams[0], b.Device, b.events[0]), a.FollowAll(a.streams[0], b.Device), a.PrecedeAll(a.streams[0], b.Device),
	} {
		assert.Equal(t, device.InvalidValue, device.CodeOf(err))
		assert.ErrorContains(t, err, "two systems")
	}
}

// What a stream of one device does between FollowAll and PrecedeAll has its place among all
// work of both.
func TestWorkBetweenDevices(t *testing.T) {
	a, b := pair(t, Options{})
	c := newUncheckedRig(t, Options{On: a.gpu.system.GPU(1 << 30)})
	c.ok(c.EnablePeer(a.Device))
	between := func(on, peer *rig, w device.Work) {
		on.ok(on.FollowAll(on.streams[1], peer.Device, on.Device))
		on.ok(on.Submit(on.streams[1], w))
		on.ok(on.PrecedeAll(on.streams[1], peer.Device, on.Device))
	}
	b.ok(b.Submit(b.streams[2], b.launchAffine(b.buffers[1], b.buffers[1], 1, 9)))
	between(a, b, &device.Copy{Dst: a.buffers[0], Src: b.buffers[1], Bytes: 4 * rigWords})
	b.ok(b.Submit(b.streams[3], fillOf(b.buffers[1], 77)))
	// The next one follows the first through b, which has no task of its own of it.
	between(c, b, &device.Copy{Dst: c.buffers[0], Src: a.buffers[0], Bytes: 4 * rigWords})
	require.NoError(t, c.SynchronizeAll())
	assert.EqualValues(t, 9, c.word(c.buffers[0]))
	require.NoError(t, b.SynchronizeAll())
	assert.EqualValues(t, 77, b.word(b.buffers[1]))
	fresh, err := b.CreateStream(0)
	b.ok(err)
	b.ok(b.Submit(fresh, fillOf(b.buffers[1], 5)))
	assert.EqualValues(t, 5, b.word(b.buffers[1]), "a stream made later follows, too")
}

// A device that closes lets its peers do first what they had to by now.
func TestCloseLetsPeersCatchUp(t *testing.T) {
	a, b := pair(t, Options{})
	b.ok(b.Write(b.buffers[0], []byte{8, 0, 0, 0}))
	a.ok(a.Submit(a.streams[0], &device.Copy{Dst: a.buffers[0], Src: b.buffers[0], Bytes: 4}))
	b.WaitUntil(b.Now() + time.Millisecond)
	b.ok(b.Close())
	a.ok(a.Synchronize(a.streams[0]))
	assert.EqualValues(t, 8, a.word(a.buffers[0]))
}

// A fault stays in its device, even if another waits for work behind it.
func TestAFaultIsNoPeers(t *testing.T) {
	a, b := pair(t, Options{})
	a.ok(a.Submit(a.streams[0], a.launchAffine(1, 2, 3, 4)))
	a.ok(a.Record(a.events[0], a.streams[0]))
	b.ok(b.WaitPeer(b.streams[0], a.Device, a.events[0]))
	b.ok(b.Submit(b.streams[0], fillOf(b.buffers[0], 6)))
	b.ok(b.Synchronize(b.streams[0]))
	assert.EqualValues(t, 6, b.word(b.buffers[0]))
	assert.Error(t, a.Err())
}

// A graph has nodes of two devices, in a stream of either; an update of a node reaches the
// device that runs it.
func TestAGraphSpansDevices(t *testing.T) {
	a, b := pair(t, Options{})
	x, err := a.InstantiateNodes([]GraphNode{
		{Work: fillOf(b.buffers[0], 3), On: b.Device},
		{Work: b.launchAffine(b.buffers[1], b.buffers[0], 2, 1), On: b.Device, Deps: []int32{0}},
		{Work: a.launchAffine(a.buffers[0], a.buffers[1], 0, 5)},
		{Work: &device.Copy{Dst: a.buffers[2], Src: b.buffers[1], Bytes: 4 * rigWords}, Deps: []int32{1, 2}},
	})
	require.NoError(t, err)
	for _, of := range []*rig{a, b} {
		of.ok(a.LaunchGraphInto(x, of.Device, of.streams[0]))
		of.ok(of.Synchronize(of.streams[0]))
		assert.EqualValues(t, 7, a.word(a.buffers[2]))
	}
	a.ok(a.UpdateNode(x, 2, b.launchAffine(b.buffers[1], b.buffers[0], 2, 4)))
	a.ok(a.LaunchGraph(x, a.streams[0]))
	a.ok(a.Synchronize(a.streams[0]))
	assert.EqualValues(t, 10, a.word(a.buffers[2]))
	b.ok(b.Close())
	err = a.LaunchGraph(x, a.streams[0])
	assert.Equal(t, device.Deinitialized, device.CodeOf(err))
	alone := newUncheckedRig(t, Options{})
	_, err = a.InstantiateNodes([]GraphNode{{Work: fillOf(alone.buffers[0], 1), On: alone.Device}})
	assert.ErrorContains(t, err, "two systems")
}
