package device

import (
	"errors"
	"fmt"
)

// MemoryKind is the kind of memory of an allocation.
type MemoryKind uint8

const (
	DeviceMemory MemoryKind = iota
	PinnedMemory
	ManagedMemory
)

var memoryKinds = [...]string{DeviceMemory: "device memory", PinnedMemory: "pinned memory", ManagedMemory: "managed memory"}

func (k MemoryKind) String() string {
	if int(k) >= len(memoryKinds) {
		return fmt.Sprintf("memory(%d)", int(k))
	}
	return memoryKinds[k]
}

// Allocation describes a live allocation: memory from the call that returned it until Free.
type Allocation struct {
	Base   Ptr
	Bytes  int64
	Kind   MemoryKind
	Serial uint64 // from 1, unique among all allocations of the device, while an address may be reused
}

// ErrFreed is in the error chain if a buffer was bound to memory that has been freed since, even if the address now
// belongs to a new allocation.
var ErrFreed = errors.New("freed, or moved, after it was bound")
