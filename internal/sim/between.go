package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
)

// CanPeer reports whether kernels of the device can access the memory of another device. Devices of different GPUs of a
// system are peers, unless the system has links and none of them connects the GPUs.
func (d *Device) CanPeer(other device.Device) bool {
	peer, err := contract.PeerOf[*Device](other)
	return err == nil && d.reachable(peer) == nil
}

// reachable returns an error unless peer is a device of another GPU of the system.
func (d *Device) reachable(peer *Device) *device.Error {
	switch {
	case peer.closed:
		return contract.ClosedPeer()
	case d.sharedTime != peer.sharedTime:
		return contract.NoPeer(peer.info.ID, "it was not opened together with this device")
	case d.gpu == peer.gpu:
		return contract.NoPeer(peer.info.ID, "it is on the same GPU")
	case !d.gpu.CanPeer(peer.gpu):
		return contract.NoPeer(peer.info.ID, "no link of the machine makes the two peers")
	}
	return nil
}

// EnablePeer lets kernels and copies of the device access the memory of a peer of its system.
func (d *Device) EnablePeer(other device.Device) error {
	peer, bad := contract.PeerOf[*Device](other)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return err.In("EnablePeer")
	}
	if err := d.reachable(peer); err != nil {
		return err.In("EnablePeer")
	}
	if !d.memory.Befriended(peer.memory) {
		d.memory.Befriend(peer.memory)
	}
	return nil
}

// DisablePeer reverts EnablePeer.
func (d *Device) DisablePeer(peer *Device) {
	if peer != nil {
		d.memory.Unfriend(peer.memory)
	}
}

// foreign returns the other device that owns the memory at p, or nil.
func (d *Device) foreign(p device.Ptr) *Device {
	if owner := d.gpu.system.space.Owner(uint64(p)); owner != nil && owner != d.memory {
		return d.gpu.system.devices[owner]
	}
	return nil
}

// own returns an error if n bytes at p are memory of another device.
func (d *Device) own(p device.Ptr, n int64) *device.Error {
	if other := d.foreign(p); other != nil {
		return contract.NotOwn(p, n, other.info.ID)
	}
	return nil
}

// enabled returns an error if n bytes at p are memory of another device without EnablePeer.
func (d *Device) enabled(p device.Ptr, n int64) *device.Error {
	if other := d.foreign(p); other != nil && !d.memory.Befriended(other.memory) {
		return contract.NotEnabled(p, n, other.info.ID)
	}
	return nil
}

// unset returns the error for a nil argument.
func unset(call, what string) error {
	return &device.Error{Call: call, Code: device.InvalidValue, Detail: what + " is nil"}
}

// WaitPeer is Wait for an event of another device of the system. It costs the same time.
func (d *Device) WaitPeer(sh device.Stream, other device.Device, eh device.Event) error {
	s, badS := d.streams.Get(sh)
	if err := first(d.enter(0), badS); err != nil {
		return err.In("WaitPeer")
	}
	e, err := d.peerEvent(other, eh)
	if err != nil {
		return err.In("WaitPeer")
	}
	d.wait(s, e)
	return nil
}

// peerEvent returns an event of another device of the system.
func (d *Device) peerEvent(other device.Device, h device.Event) (*event, *device.Error) {
	peer, err := contract.PeerOf[*Device](other)
	switch {
	case err != nil:
		return nil, err
	case peer.closed:
		return nil, contract.ClosedPeer()
	}
	if err := d.besides(peer); err != nil {
		return nil, err
	}
	return peer.events.Get(h)
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
