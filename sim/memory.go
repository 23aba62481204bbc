package sim

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// Alloc returns zeroed device memory. Addresses depend only on the sequence of
// calls, and on which other devices of the process are open: no two of them have the same.
func (d *Device) Alloc(bytes int64) (device.Ptr, error) { return d.alloc(bytes, d.profile.Host.Alloc) }

// AllocPooled is Alloc from a pool of memory that the driver has at hand: it costs the
// host what creating an event does.
func (d *Device) AllocPooled(bytes int64) (device.Ptr, error) {
	return d.alloc(bytes, d.profile.Host.Create)
}

func (d *Device) alloc(bytes int64, cost model.Time) (device.Ptr, error) {
	if err := first(d.enter(cost), notNegative(bytes)); err != nil {
		return 0, err.In("Alloc")
	}
	addr, err := d.memory.Alloc(bytes, fmt.Sprintf("the %d-byte allocation", bytes))
	if err != nil {
		return 0, refusedMemory(bytes, err).In("Alloc")
	}
	d.live.Bytes += bytes
	d.live.Allocations++
	d.ledger.Add(device.Ptr(addr), bytes, device.DeviceMemory)
	return device.Ptr(addr), nil
}

// Allocation is what so many bytes at p lie in.
func (d *Device) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	a, err := d.ledger.At(p, bytes)
	return a, err.In("Allocation")
}

// Freed counts what was freed.
func (d *Device) Freed() uint64 { return d.ledger.Freed() }

// refusedMemory is the error of an allocation.
func refusedMemory(bytes int64, err error) *device.Error {
	code := device.InvalidValue
	if errors.Is(err, interp.ErrOutOfMemory) {
		code = device.OutOfMemory
	}
	return &device.Error{Code: code, Detail: fmt.Sprintf("%d bytes", bytes), Err: err}
}

// NameMemory gives an allocation the name that faults and findings call it.
func (d *Device) NameMemory(p device.Ptr, name string) {
	d.settled()
	d.memory.Rename(uint64(p), name)
}

func notNegative(bytes int64) *device.Error {
	if bytes < 0 {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes; want 0 or more", bytes)}
	}
	return nil
}

// AllocHost returns zeroed pinned memory.
func (d *Device) AllocHost(bytes int64) (device.Ptr, []byte, error) {
	if err := first(d.enter(d.profile.Host.Alloc), notNegative(bytes)); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	if bytes > device.MaxHostAlloc {
		return 0, nil, (&device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of pinned memory", bytes)}).In("AllocHost")
	}
	addr, b, err := d.gpu.system.space.HostAlloc(bytes, fmt.Sprintf("the %d-byte pinned allocation", bytes))
	if err != nil {
		return 0, nil, refusedMemory(bytes, err).In("AllocHost")
	}
	d.live.Bytes += bytes
	d.live.Allocations++
	d.ledger.Add(device.Ptr(addr), bytes, device.PinnedMemory)
	return device.Ptr(addr), b, nil
}

// Free waits for all work, then releases memory of either kind.
func (d *Device) Free(p device.Ptr) error {
	if err := first(d.enter(d.profile.Host.Alloc), d.freeOutside(p)); err != nil {
		return err.In("Free")
	}
	if err := d.drain(); err != nil {
		return err.In("Free")
	}
	d.catchUp() // what other devices had to do with it
	if err := d.free(uint64(p)); err != nil {
		return (&device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%#x is not an allocation", uint64(p)), Err: err}).In("Free")
	}
	return nil
}

// free releases memory that no work uses any more.
func (d *Device) free(addr uint64) error {
	size, err := d.discard(addr)
	if err != nil {
		return err
	}
	d.l2.Forget(addr)
	d.ledger.Remove(device.Ptr(addr))
	d.live.Bytes -= size
	d.live.Allocations--
	return nil
}

func (d *Device) discard(addr uint64) (int64, error) {
	if d.gpu.system.space.Lent(addr) {
		return d.gpu.system.space.Withdraw(addr)
	}
	if d.memory.IsCondition(addr) {
		return 0, errors.New("it is the handle of a condition; its graph frees it")
	}
	for _, h := range d.modules.All() {
		if m, _ := d.modules.Get(h); m.code.Owns(addr) {
			return 0, fmt.Errorf("it is a variable of module %s; UnloadModule frees it", m.name)
		}
	}
	_, size, _ := d.memory.Base(addr)
	if err := d.memory.Free(addr); err != nil {
		return 0, err
	}
	d.memo.forget(addr)
	d.races.freed(addr)
	if d.graphMemory[device.Ptr(addr)] != nil {
		d.graphUse.Used -= size
	}
	return size, nil
}

// within says why n bytes at an address cannot be accessed, or nil.
func (d *Device) within(p device.Ptr, n int64) *device.Error {
	_, err := d.memory.Bytes(uint64(p), n)
	if err == nil && d.memory.IsCondition(uint64(p)) {
		err = errors.New("it is the handle of a condition, which only cudaGraphSetConditional sets")
	}
	if err != nil && (n < 0 || !d.memory.Reserved(uint64(p), uint64(n))) { // what is reserved may be there when it is used
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x", n, uint64(p)), Err: err}
	}
	return nil
}

// computed is changed for what the device itself wrote, which on a sampled device has no
// meaning: what its launches do depends on what the host wrote alone.
func (d *Device) computed(addr uint64) {
	if d.sample == 0 {
		d.changed(addr)
	}
}

// changed tells the memo of the device that owns an allocation that it has new content.
func (d *Device) changed(addr uint64) {
	base, _, ok := d.memory.Base(addr)
	if !ok {
		return
	}
	owner := d
	if !d.memory.Owns(addr) {
		owner = d.gpu.system.devices[d.gpu.system.space.Owner(addr)]
	}
	if owner != nil {
		owner.memo.forget(base)
	}
}

// Write waits for all work, then copies from pageable memory.
func (d *Device) Write(dst device.Ptr, src []byte) error {
	if err := first(d.enter(d.profile.Host.Memcpy), d.writable(dst, int64(len(src)))); err != nil {
		return err.In("Write")
	}
	d.await(&job{kind: upload, dst: uint64(dst), bytes: int64(len(src)), host: src})
	return d.answer("Write")
}

// Read waits for all work, then copies to pageable memory.
func (d *Device) Read(dst []byte, src device.Ptr) error {
	if err := first(d.enter(d.profile.Host.Memcpy), d.within(src, int64(len(dst)))); err != nil {
		return err.In("Read")
	}
	d.await(&job{kind: download, src: uint64(src), bytes: int64(len(dst)), host: dst})
	return d.answer("Read")
}

// await runs one job after all that is under way, and waits for it. It takes as long as
// a copy in the legacy default stream when all streams are blocking ones, so that a
// program takes the same time here and through the driver's interface.
func (d *Device) await(j *job) {
	end := d.engine.Next()
	idle := d.drained()
	d.races.drained(d, end)
	id := d.add(des.Task{Arrival: max(d.arrival(), idle+d.profile.StreamGap), Data: j}, place{})
	d.waited(d.endOf(id))
	d.races.hostWaited(id)
}
