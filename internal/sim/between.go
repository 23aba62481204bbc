package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// unset returns the error for a nil argument.
func unset(call, what string) error {
	return &device.Error{Call: call, Code: device.InvalidValue, Detail: what + " is nil"}
}

// WaitPeer is Wait for an event of another device of the system. It costs the same time.
func (d *Device) WaitPeer(sh device.Stream, peer *Device, eh device.Event) error {
	if peer == nil {
		return unset("WaitPeer", "the other device")
	}
	s, badS := d.streams.Get(sh)
	e, badE := peer.events.Get(eh)
	if err := first(d.enter(0), badS, badE, d.besides(peer)); err != nil {
		return err.In("WaitPeer")
	}
	d.wait(s, e)
	return nil
}

// besides returns an error if a peer belongs to another system.
func (d *Device) besides(peers ...*Device) *device.Error {
	for _, p := range peers {
		if d.sharedTime != p.sharedTime {
			return &device.Error{Code: device.InvalidValue, Detail: "the devices are of two systems, whose times are unrelated"}
		}
	}
	return nil
}

// FollowAll makes the next work of the stream wait for all work enqueued so far in all streams of the device and of
// its peers.
func (d *Device) FollowAll(sh device.Stream, peers ...*Device) error {
	s, bad := d.streams.Get(sh)
	if err := first(d.enter(0), bad, d.besides(peers...)); err != nil {
		return err.In("FollowAll")
	}
	d.followStreams(s, d)
	for _, p := range peers {
		if p != d {
			d.followStreams(s, p)
		}
	}
	return nil
}

func (d *Device) followStreams(s *stream, of *Device) {
	if of.fences > 0 {
		d.followDefault(s, of.fenced)
	}
	for _, h := range of.streams.All() {
		other, _ := of.streams.Get(h)
		if other == s {
			continue
		}
		for _, t := range other.appendFront(nil) {
			d.followDefault(s, t)
		}
	}
}

// PrecedeAll makes all work that is enqueued later in any stream of the device and of its peers wait for the present
// end of the stream.
func (d *Device) PrecedeAll(sh device.Stream, peers ...*Device) error {
	s, bad := d.streams.Get(sh)
	if err := first(d.enter(0), bad, d.besides(peers...)); err != nil {
		return err.In("PrecedeAll")
	}
	if !s.used {
		return nil
	}
	d.fence(s.tail)
	s.fences = d.fences
	for _, p := range peers {
		if p != d && !p.closed {
			p.fence(p.add(des.Task{Arrival: p.arrival(), Deps: []des.TaskID{s.tail}}, place{}))
		}
	}
	return nil
}

// fence makes all later work in all streams wait for a task. The legacy stream depends on it at once, because the
// host may wait for that stream before it gets more work.
func (d *Device) fence(t des.TaskID) {
	d.fences++
	d.fenced = t
	if d.legacy != nil {
		d.passFence(d.legacy)
	}
}

// passFence makes the next work of a stream wait for the task of the latest fence.
func (d *Device) passFence(s *stream) {
	if s.fences == d.fences {
		return
	}
	s.fences = d.fences
	d.followDefault(s, d.fenced)
}
