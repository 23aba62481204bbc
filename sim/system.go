package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// System is the GPUs of one process. The addresses of all their memory, and of the host
// memory that they reach, are distinct, as CUDA's unified addressing has it. Their devices
// have one virtual time: the host's, and that of their work, which runs in one order of
// time whichever device the host waits for. One goroutine at a time may use them.
type System struct {
	space   *interp.Space
	devices map[*interp.Memory]*Device
	time    *sharedTime
}

// NewSystem returns a system without GPUs.
func NewSystem() *System {
	return &System{space: interp.NewSeparateSpace(), devices: map[*interp.Memory]*Device{}, time: newSharedTime()}
}

// Now is the virtual clock of the host.
func (s *System) Now() time.Duration {
	s.time.settled()
	return duration(s.time.host)
}

// GPU is the memory that the contexts of one GPU have between them.
type GPU struct {
	system *System
	bank   *interp.Bank
}

// GPU adds a GPU with that many bytes of memory.
func (s *System) GPU(memory int64) *GPU { return &GPU{s, interp.NewBank(memory)} }

// Memory is how much device memory is free, and how much there is, in bytes.
func (g *GPU) Memory() (free, total int64) { return g.bank.Free(), g.bank.Size() }

// Reserve takes n bytes out of what is free, without an address, or returns them when n
// is negative; false when there are not so many.
func (g *GPU) Reserve(n int64) bool { return g.bank.Reserve(n) }

func (g *GPU) open(d *Device) *interp.Memory {
	m := g.system.space.Open(g.bank)
	g.system.devices[m] = d
	return m
}

func (g *GPU) close(d *Device) {
	delete(g.system.devices, d.memory)
	d.engine.Leave()
	d.memory.Close()
}

// LendHost makes host memory known to all devices of the system under the address it
// has. Copies reach it as they do pinned memory; kernels do, too, over the host link. It
// must stay where it is until Free, and lie outside the Go heap.
func (d *Device) LendHost(b []byte, name string) (device.Ptr, error) {
	return d.lend("LendHost", b, name, d.gpu.system.space.Lend)
}

func (d *Device) lend(call string, b []byte, name string, lend func([]byte, string) (uint64, error)) (device.Ptr, error) {
	if err := d.enter(d.profile.Host.Alloc); err != nil {
		return 0, err.In(call)
	}
	addr, err := lend(b, name)
	if err != nil {
		return 0, (&device.Error{Code: device.InvalidValue, Err: err}).In(call)
	}
	d.live.Bytes += int64(len(b))
	d.live.Allocations++
	return device.Ptr(addr), nil
}

// Withdraw ends LendHost of the memory that starts at p when the device that it was lent
// to is no more.
func (s *System) Withdraw(p device.Ptr) { _, _ = s.space.Withdraw(uint64(p)) }

// Holds reports whether p is an address of device memory, live or freed, or near it.
func (s *System) Holds(p device.Ptr) bool { return s.space.Holds(uint64(p)) }

// Overlaps reports whether any of n bytes at p are memory of the host that was lent.
func (s *System) Overlaps(p device.Ptr, n int64) bool { return s.space.Overlaps(uint64(p), uint64(n)) }

// Owner is the device that allocated the memory at p, nil when none did.
func (s *System) Owner(p device.Ptr) *Device { return s.devices[s.space.Owner(uint64(p))] }

// Range is the start and size of the allocation of the system that holds p.
func (s *System) Range(p device.Ptr) (base device.Ptr, bytes int64, ok bool) {
	b, n, ok := s.space.Range(uint64(p))
	return device.Ptr(b), n, ok
}

// EnablePeer lets kernels of the device access the memory of a peer of its system, and
// DisablePeer ends that.
func (d *Device) EnablePeer(peer *Device) {
	if peer != nil {
		d.memory.Befriend(peer.memory)
	}
}

// DisablePeer takes it back.
func (d *Device) DisablePeer(peer *Device) {
	if peer != nil {
		d.memory.Unfriend(peer.memory)
	}
}
