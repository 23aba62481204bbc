package sim

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Alloc returns device memory, which is zeroed unless it is poisoned. Its address depends only on the sequence of calls and on the other open devices
// of the process: no two devices share an address.
func (d *Device) Alloc(bytes int64) (device.Ptr, error) { return d.alloc(bytes, d.profile.Host.Alloc) }

// AllocPooled is Alloc from a pool of the driver. Its host cost is that of creating an event.
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
	d.poisonNew(device.Ptr(addr), bytes)
	d.live.Bytes += bytes
	d.live.Allocations++
	d.ledger.Add(device.Ptr(addr), bytes, device.DeviceMemory)
	return device.Ptr(addr), nil
}

// Allocation returns the allocation that contains the given number of bytes at p.
func (d *Device) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	a, err := d.ledger.At(p, bytes)
	return a, err.In("Allocation")
}

// Freed returns the number of allocations freed so far.
func (d *Device) Freed() uint64 { return d.ledger.Freed() }

// refusedMemory returns the error of a failed allocation.
func refusedMemory(bytes int64, err error) *device.Error {
	code := device.InvalidValue
	if errors.Is(err, interp.ErrOutOfMemory) {
		code = device.OutOfMemory
	}
	return &device.Error{Code: code, Detail: fmt.Sprintf("%d bytes", bytes), Err: err}
}

// NameMemory names an allocation for faults and findings.
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

// AllocHost returns pinned memory, which is zeroed unless it is poisoned.
func (d *Device) AllocHost(bytes int64) (device.Ptr, []byte, error) {
	if err := first(d.enter(d.profile.Host.Alloc), notNegative(bytes)); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	if bytes > contract.MaxHostAlloc {
		return 0, nil, (&device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of pinned memory", bytes)}).In("AllocHost")
	}
	addr, b, err := d.gpu.system.space.HostAlloc(bytes, fmt.Sprintf("the %d-byte pinned allocation", bytes))
	if err != nil {
		return 0, nil, refusedMemory(bytes, err).In("AllocHost")
	}
	d.live.Bytes += bytes
	d.live.Allocations++
	d.poisonNew(device.Ptr(addr), bytes)
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
	d.catchUp() // lets other devices finish their use of it
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

// within returns an error if n bytes at an address cannot be accessed.
func (d *Device) within(p device.Ptr, n int64) *device.Error {
	_, err := d.memory.Bytes(uint64(p), n)
	if err == nil && d.memory.IsCondition(uint64(p)) {
		err = errors.New("it is the handle of a condition, which only cudaGraphSetConditional sets")
	}
	if err != nil && (n < 0 || !d.memory.Reserved(uint64(p), uint64(n))) { // reserved memory may exist when it is used
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x", n, uint64(p)), Err: err}
	}
	return nil
}

// computed is changed for data that the device itself wrote. On a sampled device such data are meaningless, and only
// data from the host affect what launches do.
func (d *Device) computed(addr uint64) {
	if d.sample == 0 {
		d.changed(addr)
	}
}

// changed notifies the memo of the device that owns an allocation of new content.
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
	if err := first(d.enter(d.profile.Host.Memcpy), d.writable(dst, int64(len(src))), d.own(dst, int64(len(src)))); err != nil {
		return err.In("Write")
	}
	d.await(&job{kind: upload, dst: uint64(dst), bytes: int64(len(src)), host: src})
	return d.answer("Write")
}

// Read waits for all work, then copies to pageable memory.
func (d *Device) Read(dst []byte, src device.Ptr) error {
	if err := first(d.enter(d.profile.Host.Memcpy), d.within(src, int64(len(dst))), d.own(src, int64(len(dst)))); err != nil {
		return err.In("Read")
	}
	d.await(&job{kind: download, src: uint64(src), bytes: int64(len(dst)), host: dst})
	return d.answer("Read")
}

// await runs one job after all work in progress, and waits for it. It takes as long as a copy in the legacy default
// stream if all streams are blocking ones. A program therefore takes the same time here and through the driver API.
func (d *Device) await(j *job) {
	end := d.engine.Next()
	idle := d.drained()
	d.races.drained(d, end)
	id := d.add(des.Task{Arrival: max(d.arrival(), idle+d.profile.StreamGap), Data: j}, place{})
	d.waited(d.endOf(id))
	d.races.hostWaited(id)
}
