package device

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"
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

// Ledger is implemented by devices that keep a list of their allocations. A holder of an address can use it to detect
// that the memory was freed or that the address now belongs to another allocation.
type Ledger interface {
	// Allocation returns the allocation that contains the given number of bytes at p.
	Allocation(p Ptr, bytes int64) (Allocation, error)
	// Freed returns the number of allocations freed so far. While it is constant, every allocation remains valid.
	Freed() uint64
}

// ErrFreed is in the error chain if a buffer was bound to memory that has been freed since, even if the address now
// belongs to a new allocation.
var ErrFreed = errors.New("freed, or moved, after it was bound")

// Allocations implements Ledger for a device, in memory ordered by address. A lookup takes O(log n).
type Allocations struct {
	live   []Allocation // ordered by address
	serial uint64
	freed  uint64
}

func (t *Allocations) find(p Ptr) int {
	return sort.Search(len(t.live), func(i int) bool { return t.live[i].Base > p }) - 1
}

// Add records an allocation.
func (t *Allocations) Add(p Ptr, bytes int64, kind MemoryKind) {
	t.serial++
	t.live = slices.Insert(t.live, t.find(p)+1, Allocation{p, bytes, kind, t.serial})
}

// Remove deletes the record of the allocation at p, if there is one.
func (t *Allocations) Remove(p Ptr) {
	if i := t.find(p); i >= 0 && t.live[i].Base == p {
		t.live = slices.Delete(t.live, i, i+1)
		atomic.AddUint64(&t.freed, 1)
	}
}

// At returns the allocation that contains the given number of bytes at p, or an *Error with an empty Call.
func (t *Allocations) At(p Ptr, bytes int64) (Allocation, *Error) {
	if i := t.find(p); i >= 0 {
		a := t.live[i]
		at := int64(p - a.Base)
		if 0 <= bytes && at <= a.Bytes && bytes <= a.Bytes-at {
			return a, nil
		}
		return Allocation{}, refuse(InvalidValue, "%d bytes at %#x, which is byte %d of the last allocation before it, of %d bytes", bytes, uint64(p), at, a.Bytes)
	}
	return Allocation{}, refuse(InvalidValue, "%d bytes at %#x, which is no allocation", bytes, uint64(p))
}

// Len returns the number of live allocations.
func (t *Allocations) Len() int { return len(t.live) }

// Freed returns the number of calls of Remove that removed an allocation. Unlike the other methods it is safe for
// concurrent use, because every replay calls it.
func (t *Allocations) Freed() uint64 { return atomic.LoadUint64(&t.freed) }
