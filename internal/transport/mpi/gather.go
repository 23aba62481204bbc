package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
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
// If those of any rank do not fit, a second gather sends the bytes of all, or as many as they need for at most maxGather bytes
// each.
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

// maxGather is the largest number of bytes that one gather of MPI returns: its counts and offsets are int. Tests set it.
var maxGather = 1 << 30

// parts checks the slots of all ranks and returns their bytes.
func (t *ranked) parts(ctx context.Context, k kind, mine, slots []byte) ([][]byte, error) {
	sizes, err := readSlots(slots)
	if err != nil {
		return nil, err
	}
	parts := make([][]byte, t.size)
	longest := slices.Max(sizes)
	if longest <= slotSize-headSize {
		for r, size := range sizes {
			parts[r] = slices.Clone(slots[r*slotSize+headSize:][:size])
		}
		return parts, nil
	}
	piece := max(1, maxGather/t.size)
	if longest <= piece {
		return t.piece(ctx, k, mine, sizes)
	}
	for r, size := range sizes {
		parts[r] = make([]byte, 0, size)
	}
	counts := make([]int, t.size)
	for at := 0; at < longest; at += piece {
		for r, size := range sizes {
			counts[r] = min(max(size-at, 0), piece)
		}
		lo := min(at, len(mine))
		all, err := t.piece(ctx, k, mine[lo:lo+counts[t.rank]], counts)
		if err != nil {
			return nil, err
		}
		for r := range parts {
			parts[r] = append(parts[r], all[r]...)
		}
	}
	return parts, nil
}

// piece gathers bytes of these sizes, at most maxGather together.
func (t *ranked) piece(ctx context.Context, k kind, mine []byte, sizes []int) ([][]byte, error) {
	counts, offsets, total := make([]int32, t.size), make([]int32, t.size), 0
	for r, size := range sizes {
		counts[r], offsets[r] = int32(size), int32(total)
		total += size
	}
	all := make([]byte, total)
	if err := t.pinned(ctx, k, mine, all, func() int { return t.engine.gatherv(mine, all, counts, offsets) }); err != nil {
		return nil, err
	}
	parts := make([][]byte, t.size)
	for r, size := range sizes {
		end := int(offsets[r]) + size
		parts[r] = all[offsets[r]:end:end]
	}
	return parts, nil
}

// readSlots returns the sizes of the bytes of all ranks. The error is that of ranks in different calls.
func readSlots(slots []byte) ([]int, error) {
	sizes := make([]int, len(slots)/slotSize)
	for r := range sizes {
		slot := slots[r*slotSize:]
		if other, first := kind(slot[0]), kind(slots[0]); other != first {
			return nil, &transport.OrderError{Ranks: [2]int{0, r}, Calls: [2]string{first.String(), other.String()}}
		}
		sizes[r] = int(binary.LittleEndian.Uint64(slot[1:]))
	}
	return sizes, nil
}
