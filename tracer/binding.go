package tracer

import (
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// BindingError reports that live replays of a trace have a buffer in different memory, because some of
// them have called Swap or Rebind. Buffer.At selects one of the addresses.
type BindingError struct {
	Trace, Buffer string
	At            [2]device.Ptr // two different addresses of the buffer
}

func (e *BindingError) Error() string {
	return fmt.Sprintf("buffer @%s is at %#x in one live replay of trace %s and at %#x in another: pass Buffer.At with the Pointer of the Exec that is meant, or close the other",
		e.Buffer, uint64(e.At[0]), e.Trace, uint64(e.At[1]))
}

// replays lists the live replays of a trace. It has a lock because Execs of one trace may be made and
// closed on different goroutines.
type replays struct {
	sync.Mutex
	live []*replay
}

// replay is one live replay. at returns its address of a buffer, and 0 for a buffer that it does not use
// or has placed in its arena.
type replay struct {
	at func(ir.BufferID) device.Ptr
}

// all returns a copy of the list, so that at is called without the lock.
func (r *replays) all() []*replay {
	if r == nil {
		return nil
	}
	r.Lock()
	defer r.Unlock()
	return slices.Clone(r.live)
}

// remove removes a replay and returns how many are left.
func (r *replays) remove(one *replay) (left int) {
	r.Lock()
	defer r.Unlock()
	r.live = slices.DeleteFunc(r.live, func(other *replay) bool { return other == one })
	return len(r.live)
}

// Attach implements traced.Trace. When the last live replay detaches, its addresses become those of the
// trace, so that Read still finds the results.
func (tr view) Attach(at func(ir.BufferID) device.Ptr) (detach func(), err error) {
	switch {
	case tr.Trace == nil || tr.t == nil:
		return nil, errNoTrace
	case at == nil:
		return nil, absent.Nil("the function for addresses of buffers")
	}
	r, one := tr.t.replays, &replay{at}
	r.Lock()
	defer r.Unlock()
	r.live = append(r.live, one)
	return func() {
		if r.remove(one) > 0 || tr.closed {
			return
		}
		for id := range tr.t.buffers {
			// An unchanged address is not bound again: Bind would take the serial number of whatever memory
			// is at the address by now, and hide that the bound memory was freed.
			if p := at(ir.BufferID(id)); p != 0 && p != tr.t.buffers[id].bound {
				tr.Bind(ir.BufferID(id), p)
			}
		}
	}, nil
}

// where returns the address of a buffer: that in the live replays, else that in the last one. It is 0
// for a buffer without memory. The error is a BindingError.
func (t *Tracer) where(id ir.BufferID) (device.Ptr, error) {
	if t.buffers[id].closed {
		return 0, nil
	}
	var at device.Ptr
	for _, r := range t.replays.all() {
		p := r.at(id)
		if p != 0 && at != 0 && p != at {
			return 0, &BindingError{Trace: t.graph.Name, Buffer: t.graph.Buffers[id].Name, At: [2]device.Ptr{at, p}}
		}
		at = max(at, p)
	}
	if at != 0 {
		return at, nil
	}
	return t.buffers[id].now(), nil
}

// pointer returns the address that where returns. If live replays differ, it is the address that the
// last Bind gave the buffer.
func (t *Tracer) pointer(id ir.BufferID) device.Ptr {
	if at, err := t.where(id); err == nil {
		return at
	}
	return t.buffers[id].now()
}

// bound returns a copy of the allocations in which each buffer is bound to the address that pointer
// returns.
func (t *Tracer) bound() []allocation {
	list := slices.Clone(t.buffers)
	for id := range list {
		list[id].bound = t.pointer(ir.BufferID(id))
	}
	return list
}

// At returns b in the memory that starts at p, which Exec.Pointer returns. The result serves Read,
// Write, Draft and ToHost only. It selects the memory while live replays of the trace have the buffer in
// different memory (see BindingError).
func (b Buffer) At(p device.Ptr) Buffer {
	if b.t == nil {
		return b
	}
	i := slices.Index(b.t.places, p)
	if i < 0 {
		i = len(b.t.places)
		b.t.places = append(b.t.places, p)
	}
	b.at = int32(i + 1)
	return b
}

// where returns the address of the first byte of the allocation that b is a range of. The error is a
// BindingError or wraps device.ErrFreed.
func (b Buffer) where() (device.Ptr, error) {
	if b.at > 0 {
		return b.t.places[b.at-1], nil
	}
	at, err := b.t.where(b.id)
	if err == nil && b.t.isLost(b.id, at) {
		return 0, b.t.errLost(b.id)
	}
	return at, err
}

// serial returns the serial number of the memory at an address. It is 0 if there is no memory, or if the
// device does not number its allocations.
func (t *Tracer) serial(at device.Ptr) uint64 {
	l, ok := t.dev.(device.Ledger)
	if !ok || at == 0 {
		return 0
	}
	a, err := l.Allocation(at, 0)
	if err != nil {
		return 0
	}
	return a.Serial
}

// lost returns an error for the first buffer that is bound to freed memory. It wraps device.ErrFreed.
func (t *Tracer) lost() error {
	for i := range t.buffers {
		if id := ir.BufferID(i); t.buffers[id].bound != 0 && t.isLost(id, t.pointer(id)) {
			return t.errLost(id)
		}
	}
	return nil
}

// isLost reports whether a buffer is at the address that it was bound to and that memory was freed. The
// address alone does not show this, since an allocator reuses addresses; a serial number is used once.
func (t *Tracer) isLost(id ir.BufferID, at device.Ptr) bool {
	a := &t.buffers[id]
	return a.home != 0 && at == a.bound && t.serial(at) != a.home
}

func (t *Tracer) errLost(id ir.BufferID) error {
	return fmt.Errorf("buffer @%s was %w: bind it to other memory with Trace.Bind, or to its own with the address 0", t.graph.Buffers[id].Name, device.ErrFreed)
}
