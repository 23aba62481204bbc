package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// kind is that of a collective call. It is compared between ranks.
type kind byte

const (
	opening kind = iota
	gathering
	freezing
)

func (k kind) String() string { return [...]string{"Open", "Gather", "Freeze"}[k] }

func (t *ranked) Gather(ctx context.Context, mine []byte) ([][]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.gather(ctx, gathering, mine)
}

// A gather sends a slot of fixed size for each rank: the kind of the call, the number of bytes, and the bytes if they fit.
// If those of any rank do not fit, a second gather sends the bytes of all.
const (
	headSize = 1 + 8
	slotSize = 256
)

// gather is a gather that compares the kinds of the calls.
func (t *ranked) gather(ctx context.Context, k kind, mine []byte) ([][]byte, error) {
	if !t.collective.TryLock() {
		return nil, fmt.Errorf("rank %d called %v during its %s: collective calls follow one another", t.rank, k, t.activity())
	}
	defer t.collective.Unlock()
	t.collectives++
	slot, all := make([]byte, slotSize), make([]byte, t.size*slotSize)
	slot[0] = byte(k)
	binary.LittleEndian.PutUint64(slot[1:], uint64(len(mine)))
	copy(slot[headSize:], mine)
	err := t.pinned(ctx, k, slot, all, func() int { return t.engine.gather(slot, all) })
	if err != nil {
		return nil, err
	}
	return t.parts(ctx, k, mine, all)
}

// pinned starts a gather and waits for its end. The bytes stay pinned if it fails, because MPI may still write them.
func (t *ranked) pinned(ctx context.Context, k kind, mine, all []byte, start func() int) error {
	var pins runtime.Pinner
	for _, bytes := range [][]byte{mine, all} {
		if len(bytes) > 0 {
			pins.Pin(&bytes[0])
		}
	}
	if result := t.call(request{other: start}); result < 0 {
		return t.broken(result)
	}
	w := &wait{call: k.String(), began: time.Now(), request: request{f: test}}
	w.failure = func() *transport.WaitError { return &transport.WaitError{} }
	w.closed = t.closedBefore(t.collectives)
	if err := t.await(ctx, w, 0); err != nil {
		return err
	}
	pins.Unpin()
	return nil
}

// closedBefore returns a function that returns a rank that closed before its nth collective call, else -1.
func (t *ranked) closedBefore(n int) func() int {
	return func() int {
		for r := range t.size {
			if f := t.control.farewell(r); f != nil && f.Collectives < n {
				return r
			}
		}
		return -1
	}
}

// parts checks the slots of all ranks and returns their bytes.
func (t *ranked) parts(ctx context.Context, k kind, mine, slots []byte) ([][]byte, error) {
	sizes, err := readSlots(slots, k, t.rank)
	if err != nil {
		return nil, err
	}
	offsets, total, fit := make([]int32, t.size), 0, true
	for r, size := range sizes {
		offsets[r] = int32(total)
		fit = fit && size <= slotSize-headSize
		if total += int(size); total > math.MaxInt32 {
			return nil, fmt.Errorf("a gather of all ranks has more than %d bytes: gather less at a time", math.MaxInt32)
		}
	}
	all := make([]byte, total)
	if fit {
		for r, size := range sizes {
			copy(all[offsets[r]:], slots[r*slotSize+headSize:][:size])
		}
	} else if err := t.pinned(ctx, k, mine, all, func() int { return t.engine.gatherv(mine, all, sizes, offsets) }); err != nil {
		return nil, err
	}
	parts := make([][]byte, t.size)
	for r, size := range sizes {
		end := offsets[r] + size
		parts[r] = all[offsets[r]:end:end]
	}
	return parts, nil
}

// readSlots returns the sizes of the bytes of all ranks. The error is that of ranks in different calls.
func readSlots(slots []byte, k kind, rank int) ([]int32, error) {
	sizes := make([]int32, len(slots)/slotSize)
	for r := range sizes {
		slot := slots[r*slotSize:]
		if other, first := kind(slot[0]), kind(slots[0]); other != first {
			return nil, &transport.OrderError{Ranks: [2]int{0, r}, Calls: [2]string{first.String(), other.String()}}
		}
		size := binary.LittleEndian.Uint64(slot[1:])
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("rank %d gathers %d bytes, and %d is the limit: gather less at a time", r, size, math.MaxInt32)
		}
		sizes[r] = int32(size)
	}
	return sizes, nil
}
