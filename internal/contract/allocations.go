package contract

import (
	"slices"
	"sort"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
)

// Allocations implements device.Ledger for a device, in memory ordered by address. A lookup takes O(log n).
type Allocations struct {
	live   []device.Allocation // ordered by address
	serial uint64
	freed  uint64
}

func (t *Allocations) find(p device.Ptr) int {
	return sort.Search(len(t.live), func(i int) bool { return t.live[i].Base > p }) - 1
}

// Add records an allocation.
func (t *Allocations) Add(p device.Ptr, bytes int64, kind device.MemoryKind) {
	t.serial++
	t.live = slices.Insert(t.live, t.find(p)+1, device.Allocation{Base: p, Bytes: bytes, Kind: kind, Serial: t.serial})
}

// Remove deletes the record of the allocation at p, if there is one.
func (t *Allocations) Remove(p device.Ptr) {
	if i := t.find(p); i >= 0 && t.live[i].Base == p {
		t.live = slices.Delete(t.live, i, i+1)
		atomic.AddUint64(&t.freed, 1)
	}
}

// At returns the allocation that contains the given number of bytes at p, or an *Error with an empty Call.
func (t *Allocations) At(p device.Ptr, bytes int64) (device.Allocation, *device.Error) {
	if i := t.find(p); i >= 0 {
		a := t.live[i]
		at := int64(p - a.Base)
		if 0 <= bytes && at <= a.Bytes && bytes <= a.Bytes-at {
			return a, nil
		}
		return device.Allocation{}, refuse(device.InvalidValue, "%d bytes at %#x, which is byte %d of the last allocation before it, of %d bytes", bytes, uint64(p), at, a.Bytes)
	}
	return device.Allocation{}, refuse(device.InvalidValue, "%d bytes at %#x, which is no allocation", bytes, uint64(p))
}

// Len returns the number of live allocations.
func (t *Allocations) Len() int { return len(t.live) }

// Freed returns the number of calls of Remove that removed an allocation. Unlike the other methods it is safe for
// concurrent use, because every replay calls it.
func (t *Allocations) Freed() uint64 { return atomic.LoadUint64(&t.freed) }
