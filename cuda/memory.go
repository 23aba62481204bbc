//go:build cuda && cgo

package cuda

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// memory holds the allocations that the program may copy from and to. Copies are checked here, because drivers do not
// guarantee to refuse a copy that exceeds its allocation.
type memory struct {
	mu     sync.RWMutex // held for changes of blocks, and while another device reads them
	blocks []block      // ordered by address
	bytes  int64        // without variables
	ledger contract.Allocations
}

// block is an allocation, or a variable of a module.
type block struct {
	base     device.Ptr
	size     int64
	host     bool // pinned
	managed  bool
	variable device.Module // module of a variable; 0 for an allocation
}

func (m *memory) find(p device.Ptr) int {
	return sort.Search(len(m.blocks), func(i int) bool { return m.blocks[i].base > p }) - 1
}

func (m *memory) add(b block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(b.base) + 1
	if i > 0 && m.blocks[i-1].base == b.base {
		return // a variable that was found before
	}
	m.blocks = slices.Insert(m.blocks, i, b)
	if b.variable == 0 {
		m.bytes += b.size
		m.ledger.Add(b.base, b.size, b.kind())
	}
}

func (b *block) kind() device.MemoryKind {
	switch {
	case b.host:
		return device.PinnedMemory
	case b.managed:
		return device.ManagedMemory
	}
	return device.DeviceMemory
}

// at returns the block that contains n bytes at an address.
func (m *memory) at(p device.Ptr, n int64) (*block, *device.Error) {
	if i := m.find(p); i >= 0 {
		b := &m.blocks[i]
		if at := uint64(p - b.base); at <= uint64(b.size) && uint64(n) <= uint64(b.size)-at {
			return b, nil
		}
		return nil, refuse(device.InvalidValue, "%d bytes at %#x, which is byte %d of the last allocation before it, of %d bytes",
			n, uint64(p), p-b.base, b.size)
	}
	return nil, refuse(device.InvalidValue, "%d bytes at %#x, which is not in an allocation", n, uint64(p))
}

// holds returns the block that contains n bytes at an address, for another device.
func (m *memory) holds(p device.Ptr, n int64) (block, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, err := m.at(p, n)
	if err != nil {
		return block{}, false
	}
	return *b, true
}

// clear forgets all blocks.
func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks, m.bytes, m.ledger = nil, 0, contract.Allocations{}
}

// allocation returns the allocation that starts at an address and can be freed.
func (m *memory) allocation(p device.Ptr) (block, *device.Error) {
	i := m.find(p)
	switch {
	case i < 0 || m.blocks[i].base != p:
		return block{}, refuse(device.InvalidValue, "no allocation starts at %#x, or it was freed before", uint64(p))
	case m.blocks[i].variable != 0:
		return block{}, refuse(device.InvalidValue, "%#x is a variable of module %d; UnloadModule frees it", uint64(p), m.blocks[i].variable)
	}
	return m.blocks[i], nil
}

func (m *memory) remove(b block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(b.base)
	m.blocks = slices.Delete(m.blocks, i, i+1)
	m.bytes -= b.size
	m.ledger.Remove(b.base)
}

// unload removes the variables of a module.
func (m *memory) unload(h device.Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks = slices.DeleteFunc(m.blocks, func(b block) bool { return b.variable == h })
}

// allocations returns the number of live allocations, without variables.
func (m *memory) allocations() (n int) {
	for i := range m.blocks {
		if m.blocks[i].variable == 0 {
			n++
		}
	}
	return n
}

// checkSize returns an error for a size that is negative or exceeds the limit.
func checkSize(bytes, most int64, what string) *device.Error {
	switch {
	case bytes < 0:
		return refuse(device.InvalidValue, "%d bytes; want 0 or more", bytes)
	case bytes > most:
		return refuse(device.OutOfMemory, "%d bytes of %s; %d is the most there can be", bytes, what, most)
	}
	return nil
}

// Alloc returns device memory. An allocation of 0 bytes takes 1, because drivers refuse 0.
func (d *gpuDevice) Alloc(bytes int64) (device.Ptr, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("Alloc")
	}
	defer d.mu.Unlock()
	if err := checkSize(bytes, d.info.MemoryBytes, "device memory"); err != nil {
		return 0, err.In("Alloc")
	}
	var p cu.DevicePtr
	err := d.gorgonia("cuMemAlloc", func() (err error) { p, err = cu.MemAlloc(max(1, bytes)); return err })
	if err != nil {
		err.Detail = fmt.Sprintf("%d bytes: %s", bytes, err.Detail)
		return 0, err.In("Alloc")
	}
	d.memory.add(block{base: device.Ptr(p), size: bytes})
	return device.Ptr(p), nil
}

// AllocHost returns pinned memory, which is outside of the Go heap. gorgonia.org/cu can free it but not allocate it.
func (d *gpuDevice) AllocHost(bytes int64) (device.Ptr, []byte, error) {
	if err := d.enter(); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	defer d.mu.Unlock()
	if err := checkSize(bytes, contract.MaxHostAlloc, "pinned memory"); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	p, code := d.driver.allocHost(max(1, bytes))
	if err := d.failed("cuMemHostAlloc", code); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	b := block{base: device.Ptr(uintptr(p)), size: bytes, host: true}
	d.memory.add(b)
	return b.base, unsafe.Slice((*byte)(p), bytes), nil
}

// Allocation returns the allocation that contains the given number of bytes at p.
func (d *gpuDevice) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, err := d.memory.ledger.At(p, bytes)
	return a, err.In("Allocation")
}

// Freed returns the number of allocations freed so far.
func (d *gpuDevice) Freed() uint64 { return d.memory.ledger.Freed() }

// Free waits for the device: cuMemFree does so itself, but the documentation of cuMemFreeHost does not promise it.
func (d *gpuDevice) Free(p device.Ptr) error {
	if err := d.enter(); err != nil {
		return err.In("Free")
	}
	defer d.mu.Unlock()
	b, err := d.memory.allocation(p)
	if err != nil {
		return err.In("Free")
	}
	if err := d.release(b); err != nil {
		return err.In("Free")
	}
	d.memory.remove(b)
	return d.hosts.failure().In("Free")
}

func (d *gpuDevice) release(b block) *device.Error {
	if !b.host {
		return d.gorgonia("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(b.base)) })
	}
	if err := d.failed("cuCtxSynchronize", d.driver.synchronizeAll()); err != nil {
		return err
	}
	return d.gorgonia("cuMemFreeHost", func() error { return cu.MemFreeHost(pointer(b.base)) })
}

// pointer converts an address of pinned memory, which the collector does not move.
func pointer(p device.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// Write copies in the legacy default stream, which is ordered with all our streams. The copy therefore waits for all
// work, and later work waits for the copy: cuMemcpyHtoD may return before the bytes have arrived.
func (d *gpuDevice) Write(dst device.Ptr, src []byte) error {
	if err := d.enter(); err != nil {
		return err.In("Write")
	}
	defer d.mu.Unlock()
	err := d.own(dst, int64(len(src)))
	if err != nil {
		return err.In("Write")
	}
	if len(src) == 0 {
		return d.waitAll().In("Write")
	}
	err = d.gorgonia("cuMemcpyHtoD", func() error {
		return cu.MemcpyHtoD(cu.DevicePtr(dst), unsafe.Pointer(&src[0]), int64(len(src)))
	})
	return first(err, d.hosts.failure()).In("Write")
}

// Read copies in the legacy default stream as well.
func (d *gpuDevice) Read(dst []byte, src device.Ptr) error {
	if err := d.enter(); err != nil {
		return err.In("Read")
	}
	defer d.mu.Unlock()
	err := d.own(src, int64(len(dst)))
	if err != nil {
		return err.In("Read")
	}
	if len(dst) == 0 {
		return d.waitAll().In("Read")
	}
	err = d.gorgonia("cuMemcpyDtoH", func() error {
		return cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), cu.DevicePtr(src), int64(len(dst)))
	})
	return first(err, d.hosts.failure()).In("Read")
}
