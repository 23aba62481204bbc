package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des/links"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// System is the set of GPUs of one process. All addresses of their memory, and of host memory that they access, are
// distinct, as in CUDA's unified addressing. Its devices share one virtual time of the host, and their work runs in
// one order of time, whichever device the host waits for. A System must be used by one goroutine at a time.
type System struct {
	space   *interp.Space
	devices map[*interp.Memory]*Device
	time    *sharedTime
	routes  [][]*links.Route // by number of the source and of the destination; nil for a system without links
}

// NewSystem returns a system without GPUs.
func NewSystem() *System {
	return &System{space: interp.NewSeparateSpace(), devices: map[*interp.Memory]*Device{}, time: newSharedTime()}
}

// Now returns the virtual time of the host.
func (s *System) Now() time.Duration {
	s.time.settled()
	return duration(s.time.host)
}

// GPU is the memory that the contexts of one GPU share.
type GPU struct {
	system *System
	bank   *interp.Bank
	number int         // in the rank; see NewRank
	port   *links.Port // at a PCIe switch, or nil
}

// GPU adds a GPU with the given number of bytes of memory.
func (s *System) GPU(memory int64) *GPU { return &GPU{system: s, bank: interp.NewBank(memory)} }

// Memory returns the free and the total device memory in bytes.
func (g *GPU) Memory() (free, total int64) { return g.bank.Free(), g.bank.Size() }

// Reserve takes n bytes of free memory without an address, or returns -n bytes if n is negative. It returns false if
// there are not enough.
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

// LendHost makes host memory known to all devices of the system at its own address. Copies access it like pinned
// memory; kernels access it over the host link. It must stay in place until Free, and be outside of the Go heap.
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

// Withdraw ends LendHost of the memory at p after the device that it was lent to was closed.
func (s *System) Withdraw(p device.Ptr) { _, _ = s.space.Withdraw(uint64(p)) }

// Holds reports whether p is an address of device memory, live or freed, or near one.
func (s *System) Holds(p device.Ptr) bool { return s.space.Holds(uint64(p)) }

// Overlaps reports whether any of n bytes at p are host memory passed to LendHost.
func (s *System) Overlaps(p device.Ptr, n int64) bool { return s.space.Overlaps(uint64(p), uint64(n)) }

// Owner returns the device that allocated the memory at p, or nil.
func (s *System) Owner(p device.Ptr) *Device { return s.devices[s.space.Owner(uint64(p))] }

// Range returns the start and the size of the allocation of the system that holds p.
func (s *System) Range(p device.Ptr) (base device.Ptr, bytes int64, ok bool) {
	b, n, ok := s.space.Range(uint64(p))
	return device.Ptr(b), n, ok
}
