package null

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// group is the devices of one process, which share an address space. Addresses only ascend, so a freed address is never
// reused.
type group struct {
	members []*Device
	next    device.Ptr
}

// command is a command whose other device has been found.
type command struct {
	device.Command
	peer *Device // for AwaitPeer
}

// take returns an address for a number of bytes. It leaves one unused unit after them, so that allocations are never
// adjacent.
func (g *group) take(bytes int64) device.Ptr {
	base := max(g.next, firstByte)
	g.next = base + (device.Ptr(bytes)/alignment+2)*alignment
	return base
}

func (g *group) leave(d *Device) {
	g.members = slices.DeleteFunc(slices.Clone(g.members), func(m *Device) bool { return m == d })
}

// owner returns the device other than d that has n bytes at p, with their allocation.
func (g *group) owner(d *Device, p device.Ptr, n int64) (*Device, device.Allocation) {
	for _, m := range g.members {
		if m == d {
			continue
		}
		if a, err := m.memory.ledger.At(p, n); err == nil {
			return m, a
		}
	}
	return nil, device.Allocation{}
}

func (d *Device) alloc(bytes int64, kind device.MemoryKind) device.Ptr {
	return d.memory.alloc(d.group.take(bytes), bytes, kind)
}

// own returns an error if n bytes at p are not memory of the device.
func (d *Device) own(p device.Ptr, n int64) *device.Error {
	err := d.memory.within(p, n)
	if err == nil {
		return nil
	}
	if other, _ := d.group.owner(d, p, n); other != nil {
		return contract.NotOwn(p, n, other.info.ID)
	}
	return err
}

// copies returns an error if copies of the device cannot access n bytes at p.
func (d *Device) copies(p device.Ptr, n int64) *device.Error {
	err := d.memory.within(p, n)
	if err == nil {
		return nil
	}
	switch other, a := d.group.owner(d, p, n); {
	case other == nil:
		return err
	case a.Kind == device.DeviceMemory && !slices.Contains(d.peers, other):
		return contract.NotEnabled(p, n, other.info.ID)
	}
	return nil
}

// CanPeer reports whether the devices are of one process.
func (d *Device) CanPeer(other device.Device) bool {
	peer, err := contract.PeerOf[*Device](other)
	return err == nil && d.besides(peer) == nil
}

// besides returns an error unless peer is another device of the process.
func (d *Device) besides(peer *Device) *device.Error {
	switch {
	case peer.closed:
		return contract.ClosedPeer()
	case peer == d:
		return contract.NoPeer(peer.info.ID, "it is the device itself")
	case d.group != peer.group:
		return contract.NoPeer(peer.info.ID, "it was not opened together with this device")
	}
	return nil
}

// EnablePeer lets copies access the memory of a peer.
func (d *Device) EnablePeer(other device.Device) error {
	peer, bad := contract.PeerOf[*Device](other)
	if err := first(d.open(), bad); err != nil {
		return err.In("EnablePeer")
	}
	if err := d.besides(peer); err != nil {
		return err.In("EnablePeer")
	}
	if !slices.Contains(d.peers, peer) {
		d.peers = append(d.peers, peer)
	}
	return nil
}

// WaitPeer checks the event of the other device.
func (d *Device) WaitPeer(s device.Stream, other device.Device, e device.Event) error {
	c := command{Command: device.Command{Stream: s, Event: e, Peer: other}}
	return first(d.open(), check(d.streams.Get(s)), d.awaitPeer(&c)).In("WaitPeer")
}

// AddPeerNode checks work of another device.
func (d *Device) AddPeerNode(g device.Graph, deps []device.Node, other device.Device, w device.Work) (device.Node, error) {
	gr, bad := d.graphs.Get(g)
	peer, badPeer := contract.PeerOf[*Device](other)
	if err := first(d.open(), bad, badPeer); err != nil {
		return 0, err.In("AddPeerNode")
	}
	if err := first(d.besides(peer), contract.CheckNodeWork(w), peer.work(w)); err != nil {
		return 0, err.In("AddPeerNode")
	}
	n, err := gr.add(deps, w)
	return n, err.In("AddPeerNode")
}

// awaitPeer finds the other device of a command and checks its event.
func (d *Device) awaitPeer(c *command) (err *device.Error) {
	if c.peer, err = contract.PeerOf[*Device](c.Peer); err != nil {
		return err
	}
	switch {
	case c.peer.closed:
		return contract.ClosedPeer()
	case c.peer.group != d.group:
		return contract.NoPeer(c.peer.info.ID, "it was not opened together with this device")
	}
	return check(c.peer.events.Get(c.Event))
}
