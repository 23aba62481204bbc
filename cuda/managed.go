//go:build cuda && cgo

package cuda

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// defaultStream is the legacy default stream.
var defaultStream cu.Stream

// managedAt returns the block of managed memory that contains n bytes at an address.
func (m *memory) managedAt(p device.Ptr, n int64) (*block, *device.Error) {
	if n < 0 {
		return nil, refuse(device.InvalidValue, "%d bytes; want 0 or more", n)
	}
	b, err := m.at(p, n)
	if err == nil && !b.managed {
		return nil, refuse(device.InvalidValue, "%d bytes at %#x, which is not managed memory and does not move", n, uint64(p))
	}
	return b, err
}

// AllocManaged returns managed memory, which is outside of the Go heap. An allocation of 0 bytes takes 1, because
// drivers refuse 0.
func (d *gpuDevice) AllocManaged(bytes int64) (device.Ptr, []byte, error) {
	if err := d.enter(); err != nil {
		return 0, nil, err.In("AllocManaged")
	}
	defer d.mu.Unlock()
	if err := checkSize(bytes, contract.MaxHostAlloc, "managed memory"); err != nil {
		return 0, nil, err.In("AllocManaged")
	}
	var p cu.DevicePtr
	err := d.gorgonia("cuMemAllocManaged", func() (err error) {
		p, err = cu.MemAllocManaged(max(1, bytes), cu.AttachGlobal)
		return err
	})
	if err != nil {
		err.Detail = fmt.Sprintf("%d bytes: %s", bytes, err.Detail)
		return 0, nil, err.In("AllocManaged")
	}
	b := block{base: device.Ptr(p), size: bytes, managed: true}
	d.memory.add(b)
	return b.base, unsafe.Slice((*byte)(pointer(b.base)), bytes), nil
}

// ToHost prefetches in the legacy default stream, which waits for all our streams. For a GPU that cannot prefetch it
// attaches the allocation to the host and then to all streams again.
func (d *gpuDevice) ToHost(p device.Ptr, bytes int64) error {
	if err := d.enter(); err != nil {
		return err.In("ToHost")
	}
	defer d.mu.Unlock()
	b, err := d.memory.managedAt(p, bytes)
	if err != nil {
		return err.In("ToHost")
	}
	if bytes == 0 {
		return d.waitAll().In("ToHost")
	}
	if concurrent, failed := d.gpu.Attribute(cu.ConcurrentManagedAccess); failed == nil && concurrent != 0 {
		err = d.gorgonia("cuMemPrefetchAsync", func() error {
			return cu.DevicePtr(p).MemPrefetchAsync(bytes, cu.CPU, defaultStream)
		})
		return first(err, d.waitAll()).In("ToHost")
	}
	err = d.attach(b, cu.AttachHost)
	return first(err, d.attach(b, cu.AttachGlobal)).In("ToHost")
}

// attach sets who may access managed memory, and waits until the driver has done it.
func (d *gpuDevice) attach(b *block, who cu.MemAttachFlags) *device.Error {
	err := d.gorgonia("cuStreamAttachMemAsync", func() error {
		return defaultStream.AttachMemAsync(cu.DevicePtr(b.base), 0, uint(who))
	})
	return first(err, d.waitAll())
}
