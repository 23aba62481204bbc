package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Managed memory is initially on the host. A page (interp.PageBytes) moves to the device when a kernel accesses it or
// a prefetch moves it, and back by a prefetch or ToHost. Accesses of the host are not visible here and move nothing.

// AllocManaged returns zeroed managed memory.
func (d *Device) AllocManaged(bytes int64) (device.Ptr, []byte, error) {
	if err := first(d.enter(d.profile.Host.Alloc), notNegative(bytes)); err != nil {
		return 0, nil, err.In("AllocManaged")
	}
	if bytes > contract.MaxHostAlloc {
		return 0, nil, (&device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of managed memory", bytes)}).In("AllocManaged")
	}
	addr, b, err := d.gpu.system.space.ManagedAlloc(bytes, fmt.Sprintf("the %d-byte managed allocation", bytes))
	if err != nil {
		return 0, nil, refusedMemory(bytes, err).In("AllocManaged")
	}
	d.live.Bytes += bytes
	d.live.Allocations++
	d.ledger.Add(device.Ptr(addr), bytes, device.ManagedMemory)
	return device.Ptr(addr), b, nil
}

// LendManaged is LendHost for memory that becomes managed memory.
func (d *Device) LendManaged(b []byte, name string) (device.Ptr, error) {
	return d.lend("LendManaged", b, name, d.gpu.system.space.LendManaged)
}

// ToHost waits for all work, then moves managed memory to the host. It takes the time of the copy.
func (d *Device) ToHost(p device.Ptr, bytes int64) error {
	if err := first(d.enter(d.profile.Host.Memcpy), d.withinManaged(p, bytes)); err != nil {
		return err.In("ToHost")
	}
	d.await(&job{kind: prefetch, dst: uint64(p), bytes: bytes})
	return d.answer("ToHost")
}

// withinManaged returns an error if n bytes at an address are not managed memory.
func (d *Device) withinManaged(p device.Ptr, n int64) *device.Error {
	if err := d.within(p, n); err != nil {
		return err
	}
	if !d.gpu.system.space.Managed(uint64(p), n) {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x, which is not managed memory and does not move", n, uint64(p))}
	}
	return nil
}

// Recall is work for the simulated device that moves managed memory to the host. A program without prefetches uses it
// to state that the host will access the memory.
type Recall struct {
	device.Work // nil: provides the method of the interface
	At          device.Ptr
	Bytes       int64
}

func (d *Device) fillRecall(j *job, r *Recall) *device.Error {
	*j = job{kind: prefetch, dst: uint64(r.At), bytes: r.Bytes}
	return d.withinManaged(r.At, r.Bytes)
}

func (d *Device) fillPrefetch(j *job, p *device.Prefetch) *device.Error {
	*j = job{kind: prefetch, dst: uint64(p.At), bytes: p.Bytes, toDevice: p.ToDevice, label: p.Label}
	return d.withinManaged(p.At, p.Bytes)
}

func (d *Device) startPrefetch(j *job) model.Demand {
	to, kind := d.memory, model.CopyIn
	if !j.toDevice {
		to, kind = nil, model.CopyOut
	}
	moved := d.gpu.system.space.Move(j.dst, j.bytes, to)
	if moved == 0 {
		return model.Demand{} // the memory is on the host already
	}
	return model.Demand{Kind: kind, Bytes: float64(moved)}
}

// visit moves the pages of an allocation of managed memory that a launch accesses to the device. It returns the
// number of bytes moved.
func (d *Device) visit(j *job, s *interp.Stats, v *interp.Visit, u *des.Use) (moved float64) {
	space := d.gpu.system.space
	_, size, _ := d.memory.Base(v.Base)
	if !des.PageFaults(d.profile) {
		return float64(space.Move(v.Base, size, d.memory))
	}
	var seen float64
	for _, p := range v.Pages {
		n := int64(p.Hi - p.Lo)
		seen += float64(n)
		moved += float64(space.Move(p.Lo, n, d.memory))
	}
	if sampled := j.launch.Sample > 0 && s.Blocks > j.launch.Sample; !sampled || seen == float64(size) {
		return moved
	}
	// In a sampled launch the pages accessed by the other blocks are unknown; only their approximate amount is known.
	// That share of the rest moves, and the whole allocation counts as present from now on.
	left := float64(space.Move(v.Base, size, d.memory))
	return moved + left*max(0, min(float64(size), max(u.Read, u.Written))-seen)/(float64(size)-seen)
}
