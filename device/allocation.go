package device

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync/atomic"
)

// MemoryKind says which memory an allocation is of.
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

// Allocation is memory between its allocation and Free.
type Allocation struct {
	Base   Ptr
	Bytes  int64
	Kind   MemoryKind
	Serial uint64 // from 1; no other allocation of the device ever has it, while an address may come again
}

// Ledger is a device that can say what it has allocated, so that whoever keeps an address
// notices when it has become another's.
type Ledger interface {
	// Allocation is what so many bytes at p lie in.
	Allocation(p Ptr, bytes int64) (Allocation, error)
	// Freed counts what was freed. While it stays the same, so does everything allocated.
	Freed() uint64
}

// ErrFreed is in the chain of errors that say that memory was freed to which a buffer was bound, though other memory may have its address.
var ErrFreed = errors.New("freed, or moved, after it was bound")

// Allocations is a ledger for a device to keep.
type Allocations struct {
	live   []Allocation // by address
	serial uint64
	freed  uint64
}

func (t *Allocations) find(p Ptr) int {
	return sort.Search(len(t.live), func(i int) bool { return t.live[i].Base > p }) - 1
}

// Add notes an allocation.
func (t *Allocations) Add(p Ptr, bytes int64, kind MemoryKind) {
	t.serial++
	t.live = slices.Insert(t.live, t.find(p)+1, Allocation{p, bytes, kind, t.serial})
}

// Remove notes that the allocation at p is no more, if there is one.
func (t *Allocations) Remove(p Ptr) {
	if i := t.find(p); i >= 0 && t.live[i].Base == p {
		t.live = slices.Delete(t.live, i, i+1)
		atomic.AddUint64(&t.freed, 1)
	}
}

// At returns what so many bytes at p lie in, or an *Error without its Call.
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

// Len is how many there are.
func (t *Allocations) Len() int { return len(t.live) }

// Freed counts what was removed. Unlike the rest it may be called at any time: replays do, each of them.
func (t *Allocations) Freed() uint64 { return atomic.LoadUint64(&t.freed) }
