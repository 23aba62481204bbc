package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// allocation is the memory of one buffer of the graph.
//
// A buffer has up to three addresses. ptr is its own memory, which the trace owns and frees. bound is
// memory that a replay has put in its place by Swap or Rebind, which the trace does not own. nominal is
// a made-up address, for a temporary that has no memory yet.
type allocation struct {
	ptr     device.Ptr // own memory; 0 while there is none
	bound   device.Ptr // memory that replays use instead, since a Swap or Rebind; 0 for none
	home    uint64     // serial number of the memory at bound; 0 if the device does not number memory
	nominal device.Ptr // stands for ptr while that is 0
	host    []byte     // the bytes of pinned and managed memory; nil for device memory
	pc      uintptr    // return address of the call that allocates
	freed   bool       // by the program: a later call that names the buffer is an error
	closed  bool       // the trace is closed and has freed the memory
	written extents    // bytes that Write has set, or that HostBytes has returned
}

// address returns the address with which the reach of a kernel is computed: that of the buffer's own
// memory, or the nominal one. Both are multiples of alignment, so the reach is the same if memory is
// allocated later.
func (a *allocation) address() device.Ptr {
	if a.ptr == 0 {
		return a.nominal
	}
	return a.ptr
}

// addressOf returns the address of a buffer of a plan for computing reach. Buffers that an optimizer
// pass has made are not in the trace; they all get firstNominal.
func (t *Tracer) addressOf(id ir.BufferID) device.Ptr {
	if int(id) >= len(t.buffers) {
		return firstNominal
	}
	return t.buffers[id].address()
}

// now returns the current address of the buffer: where replays have bound it, or its own memory. It is
// 0 if the buffer has neither.
func (a *allocation) now() device.Ptr {
	if a.bound != 0 {
		return a.bound
	}
	return a.ptr
}

// host returns the bytes of a buffer that is at an address, or nil if the host cannot reach them. After
// a Swap the address is in the memory of another buffer of the trace, so all buffers are searched.
func (t *Tracer) host(id ir.BufferID, at device.Ptr) []byte {
	if a := &t.buffers[id]; at == a.ptr {
		return a.host
	}
	size := t.graph.Buffers[id].Size()
	for i := range t.buffers {
		other := &t.buffers[i]
		if lo := int64(at - other.ptr); other.host != nil && at >= other.ptr && lo+size <= int64(len(other.host)) {
			return other.host[lo : lo+size]
		}
	}
	return nil
}

// firstNominal is above all addresses of devices: those of GPUs have 49 bits.
const firstNominal device.Ptr = 1 << 60

// alignment is the alignment of allocations in device memory, in bytes.
const alignment = 256

// late reports whether a buffer gets memory only when Allocate is called. With a memory
// plan it gets none: a replay then places it in an arena.
func late(buf *ir.Buffer) bool { return buf.Role == ir.Temporary && buf.Place.Kind == ir.OnDevice }

// allocate allocates the memory of buf, of the kind that buf declares. A temporary of a deferred trace
// gets a nominal address only. The error is that of the device.
func (t *Tracer) allocate(buf *ir.Buffer, pc uintptr) (a allocation, err error) {
	a.pc = pc
	switch {
	case t.mode == Deferred && late(buf):
		a.nominal = t.nominal
		t.nominal += device.Ptr(max(1, buf.Size())+alignment-1) &^ (alignment - 1)
		return a, nil
	case buf.Place.Kind == ir.PinnedHost:
		a.ptr, a.host, err = t.dev.AllocHost(buf.Size())
	case buf.Place.Kind == ir.Managed:
		if t.manager == nil {
			return a, fmt.Errorf("device %s has no managed memory", t.dev.Info().ID)
		}
		a.ptr, a.host, err = t.manager.AllocManaged(buf.Size())
	default:
		a.ptr, err = t.dev.Alloc(buf.Size())
	}
	if err == nil {
		t.nameMemory(a.ptr, buf)
	}
	return a, err
}

func (t *Tracer) nameMemory(p device.Ptr, buf *ir.Buffer) {
	if n, ok := t.dev.(device.Namer); ok {
		n.NameMemory(p, "@"+buf.Name)
	}
}

// errClosed is the error for a buffer whose memory was freed with its trace.
func (t *Tracer) errClosed(id ir.BufferID) error {
	return fmt.Errorf("buffer @%s of trace %s: %w", t.graph.Buffers[id].Name, t.graph.Name, ErrClosed)
}

// back allocates memory for a buffer that has none. Only temporaries of deferred traces lack memory
// (see late), so it is device memory. The error wraps ErrClosed or that of the device.
func (t *Tracer) back(id ir.BufferID) (err error) {
	a, buf := &t.buffers[id], &t.graph.Buffers[id]
	switch {
	case a.closed:
		return t.errClosed(id)
	case a.now() != 0:
		return nil
	}
	if a.ptr, err = t.dev.Alloc(buf.Size()); err != nil {
		return fmt.Errorf("buffer @%s of %d bytes, allocated at %v: %w", buf.Name, buf.Size(), calls.PositionOf(a.pc), err)
	}
	t.nameMemory(a.ptr, buf)
	return nil
}

// releaseLate frees the temporaries of a trace that has run. Their contents are dead, and a replay
// places them in an arena or allocates them again.
func (t *Tracer) releaseLate() error {
	var errs []error
	for id := range t.buffers {
		a, buf := &t.buffers[id], &t.graph.Buffers[id]
		if a.ptr == 0 || !late(buf) {
			continue
		}
		p := a.ptr
		a.ptr = 0
		if err := t.dev.Free(p); err != nil {
			errs = append(errs, fmt.Errorf("free @%s: %w", buf.Name, err))
		}
	}
	return device.Join(errs...)
}
