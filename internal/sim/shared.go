package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// ShareMemory moves the allocation at p to zeroed pages that other processes can map. The pages must have the size of
// the allocation and stay in place until Free. Launches that access shared memory are always interpreted, with their
// blocks in grid order.
func (d *Device) ShareMemory(p device.Ptr, pages []byte) error {
	if err := d.enter(d.profile.Host.Alloc); err != nil {
		return err.In("ShareMemory")
	}
	if err := d.memory.Share(uint64(p), pages); err != nil {
		return (&device.Error{Code: device.InvalidValue, Err: err}).In("ShareMemory")
	}
	d.memo.forget(uint64(p))
	return nil
}

// ImportMemory makes device memory of pages that another process passed to ShareMemory. They must stay in place until
// Free. The memory does not count towards the memory of the GPU.
func (d *Device) ImportMemory(pages []byte) (device.Ptr, error) {
	if err := d.enter(d.profile.Host.Alloc); err != nil {
		return 0, err.In("ImportMemory")
	}
	addr, err := d.memory.Import(pages, fmt.Sprintf("the %d bytes of another process", len(pages)))
	if err != nil {
		return 0, refusedMemory(int64(len(pages)), err).In("ImportMemory")
	}
	d.live.Bytes += int64(len(pages))
	d.live.Allocations++
	d.ledger.Add(device.Ptr(addr), int64(len(pages)), device.DeviceMemory)
	return device.Ptr(addr), nil
}
