package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// allocation is what stands behind a buffer of the graph.
type allocation struct {
	ptr     device.Ptr // 0 while there is no memory
	bound   device.Ptr // where replays have the buffer instead, since a Swap or Rebind; 0 for none
	home    uint64     // serial number of the memory at bound; 0 where the device cannot say
	nominal device.Ptr // what is taken for the address then
	host    []byte     // of pinned and managed memory
	pc      uintptr    // return address of the call that allocates
	freed   bool       // no call may name it any more
	closed  bool       // the trace is, and its memory is gone
	written extents    // by Write, or the caller has had the bytes
}

// address is what kernels are taken to be passed, for finding out what they reach: memory
// that comes later starts at another multiple of the same alignment.
func (a *allocation) address() device.Ptr {
	if a.ptr == 0 {
		return a.nominal
	}
	return a.ptr
}

// addressOf is that address of a buffer of a plan, which may be one that a pass made.
func (t *Tracer) addressOf(id ir.BufferID) device.Ptr {
	if int(id) >= len(t.buffers) {
		return firstNominal
	}
	return t.buffers[id].address()
}

// now is where the buffer is: as replays have it bound, or in its own memory.
func (a *allocation) now() device.Ptr {
	if a.bound != 0 {
		return a.bound
	}
	return a.ptr
}

// host is the memory at an address that a buffer has, as far as the host can reach it: that of the buffer of the trace whose it is.
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

// firstNominal is no address of any device: those of GPUs have 49 bits.
const firstNominal device.Ptr = 1 << 60

// alignment is that of device memory.
const alignment = 256

// late reports whether a buffer gets memory only when Allocate is called. With a memory
// plan it gets none: a replay then places it in an arena.
func late(buf *ir.Buffer) bool { return buf.Role == ir.Temporary && buf.Place.Kind == ir.OnDevice }

// allocate makes what stands behind buf.
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

// back gives a buffer memory if it has none.
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

// releaseLate frees the temporaries of a trace that has run, whose contents are dead.
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
