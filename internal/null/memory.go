package null

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

const (
	alignment = 256 // in bytes, as Device.Alloc requires
	firstByte = 0x7f00_0000_0000
)

// memory is the memory of a device, without storage.
type memory struct {
	ledger contract.Allocations
	bytes  int64
}

func (m *memory) room(bytes, limit int64) *device.Error {
	switch {
	case bytes < 0:
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes; want 0 or more", bytes)}
	case bytes > limit-m.bytes:
		return &device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes, with %d of %d in use", bytes, m.bytes, limit)}
	}
	return nil
}

func (m *memory) alloc(base device.Ptr, bytes int64, kind device.MemoryKind) device.Ptr {
	m.ledger.Add(base, bytes, kind)
	m.bytes += bytes
	return base
}

// withinManaged is within for managed memory. It refuses other memory, because that cannot move.
func (m *memory) withinManaged(p device.Ptr, bytes int64) *device.Error {
	a, err := m.ledger.At(p, bytes)
	if err == nil && a.Kind != device.ManagedMemory {
		err = &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x, which is not managed memory and does not move", bytes, uint64(p))}
	}
	return err
}

func (m *memory) free(p device.Ptr) *device.Error {
	a, err := m.ledger.At(p, 0)
	if err != nil || a.Base != p {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%#x is not the address of an allocation, or was freed before", uint64(p))}
	}
	m.bytes -= a.Bytes
	m.ledger.Remove(p)
	return nil
}

// within returns an error if the given number of bytes at p is not inside of an allocation.
func (m *memory) within(p device.Ptr, bytes int64) *device.Error {
	_, err := m.ledger.At(p, bytes)
	return err
}
