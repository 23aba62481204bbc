//go:build cuda && cgo

package cuda

import (
	"slices"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// Devices of several GPUs find each other's memory by address, as in the driver's unified addressing. The table of a
// device's memory has a lock of its own, and the event of another device is looked up before the call locks its own
// device. No call holds the locks of two devices.

// opened holds the devices of the process.
var opened struct {
	sync.RWMutex
	list []*gpuDevice
}

func (d *gpuDevice) register() {
	opened.Lock()
	defer opened.Unlock()
	opened.list = append(opened.list, d)
}

func (d *gpuDevice) unregister() {
	opened.Lock()
	defer opened.Unlock()
	opened.list = slices.DeleteFunc(opened.list, func(o *gpuDevice) bool { return o == d })
}

// ownerOf returns the device other than d whose allocation, or variable, contains n bytes at p, or nil.
func (d *gpuDevice) ownerOf(p device.Ptr, n int64) (*gpuDevice, block) {
	opened.RLock()
	defer opened.RUnlock()
	for _, o := range opened.list {
		if o == d {
			continue
		}
		if b, ok := o.memory.holds(p, n); ok {
			return o, b
		}
	}
	return nil, block{}
}

// own returns an error if n bytes at p are not in an allocation of the device.
func (d *gpuDevice) own(p device.Ptr, n int64) *device.Error {
	_, err := d.memory.at(p, n)
	if err == nil {
		return nil
	}
	if other, _ := d.ownerOf(p, n); other != nil {
		return contract.NotOwn(p, n, other.info.ID)
	}
	return err
}

// copies returns an error if copies of the device cannot access n bytes at p, and otherwise whether they are pinned.
func (d *gpuDevice) copies(p device.Ptr, n int64) (pinned bool, err *device.Error) {
	b, err := d.memory.at(p, n)
	if err == nil {
		return b.host, nil
	}
	switch other, b := d.ownerOf(p, n); {
	case other == nil:
		return false, err
	case b.kind() == device.DeviceMemory && !slices.Contains(d.peers, other):
		return false, contract.NotEnabled(p, n, other.info.ID)
	default:
		return b.host, nil
	}
}

// CanPeer reports whether the driver permits access from this GPU to the memory of another.
func (d *gpuDevice) CanPeer(other device.Device) bool {
	peer, err := contract.PeerOf[*gpuDevice](other)
	return err == nil && !d.hosts.inside() && d.reachable(peer) == nil
}

// reachable returns an error unless kernels of the device can access the memory of peer.
func (d *gpuDevice) reachable(peer *gpuDevice) *device.Error {
	switch {
	case !peer.isOpen():
		return contract.ClosedPeer()
	case d.gpu == peer.gpu:
		return contract.NoPeer(peer.info.ID, "it is on the same GPU")
	}
	can, err := d.gpu.CanAccessPeer(peer.gpu)
	if code := codeOf(err); code != 0 {
		return explain("cuDeviceCanAccessPeer", code)
	}
	if can == 0 {
		return contract.NoPeer(peer.info.ID, "the driver reports that "+d.info.ID+" cannot access its memory")
	}
	return nil
}

func (d *gpuDevice) isOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed
}

// alreadyEnabled is CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, of another user of the primary context.
const alreadyEnabled device.Code = 704

// EnablePeer gives the context access to the context of another GPU.
func (d *gpuDevice) EnablePeer(other device.Device) error {
	if d.hosts.inside() {
		return d.enter().In("EnablePeer")
	}
	peer, bad := contract.PeerOf[*gpuDevice](other)
	if bad == nil {
		bad = d.reachable(peer)
	}
	if err := d.enter(); err != nil {
		return err.In("EnablePeer")
	}
	defer d.mu.Unlock()
	if bad != nil || slices.Contains(d.peers, peer) {
		return bad.In("EnablePeer")
	}
	code := codeOf(d.executor.do(func() error { return peer.context.EnablePeerAccess(0) }))
	if code != alreadyEnabled {
		if err := d.failed("cuCtxEnablePeerAccess", code); err != nil {
			return err.In("EnablePeer")
		}
	}
	d.peers = append(d.peers, peer)
	return nil
}

// WaitPeer makes later work of the stream wait for an event of another GPU. The driver permits events of other contexts.
func (d *gpuDevice) WaitPeer(sh device.Stream, other device.Device, eh device.Event) error {
	if d.hosts.inside() {
		return d.enter().In("WaitPeer")
	}
	e, badE := peerEvent(other, eh)
	if err := d.enter(); err != nil {
		return err.In("WaitPeer")
	}
	defer d.mu.Unlock()
	s, badS := d.streams.Get(sh)
	if err := first(badS, badE); err != nil {
		return err.In("WaitPeer")
	}
	return d.enqueue(d.scratch.waitFor(e.ev, s), nil).In("WaitPeer")
}

// peerEvent returns an event of another device. The caller holds no device's lock.
func peerEvent(other device.Device, h device.Event) (*event, *device.Error) {
	peer, err := contract.PeerOf[*gpuDevice](other)
	if err != nil {
		return nil, err
	}
	peer.mu.Lock()
	defer peer.mu.Unlock()
	if peer.closed {
		return nil, contract.ClosedPeer()
	}
	return peer.events.Get(h)
}

// peerEvents returns the events of other devices for which a list waits, by command. The caller holds no device's lock.
func peerEvents(cs []device.Command) (events map[int]*event, err *device.Error) {
	for i, c := range cs {
		if c.Kind != device.AwaitPeer {
			continue
		}
		e, err := peerEvent(c.Peer, c.Event)
		if err != nil {
			return nil, refuse(err.Code, "command %d: %s", i, err.Detail)
		}
		if events == nil {
			events = map[int]*event{}
		}
		events[i] = e
	}
	return events, nil
}
