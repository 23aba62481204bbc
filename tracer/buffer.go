package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/bufsize"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// Buffer is a range of elements of an allocation. Passing it to a kernel passes
// the address of its first element and promises that the kernel stays inside
// it, so that disjoint slices of one allocation may run in parallel. What part
// of it a launch touches is inferred from the kernel's code. A launch that is
// known to break the promise is refused with a SliceError.
type Buffer struct {
	t *Tracer
	memory
	lo, hi int64 // bytes
}

// memory identifies the allocation that a Buffer is a range of. It is one field because the compiler
// keeps structs of at most four fields in registers: with five, tracing a launch takes twice as long.
type memory struct {
	id ir.BufferID
	at int32 // 1 + index of Tracer.places if At selected the address, else 0
}

// errZero is the error of a zero Buffer.
const errZero = absent.Error("a zero Buffer was passed: allocate it first")

// ID is the buffer's id in the graph.
func (b Buffer) ID() ir.BufferID { return b.id }

// Len is the number of elements, 0 of a zero Buffer.
func (b Buffer) Len() int64 {
	if b.Bytes() == 0 {
		return 0
	}
	return b.Bytes() / b.elem().Size()
}

// Bytes is the extent in bytes.
func (b Buffer) Bytes() int64 { return b.hi - b.lo }

// Declaration is how the graph declares the allocation that b is a range of; the zero ir.Buffer of a zero Buffer.
func (b Buffer) Declaration() ir.Buffer {
	if b.t == nil {
		return ir.Buffer{}
	}
	return b.t.graph.Buffers[b.id]
}

func (b Buffer) elem() ir.Type { return b.t.graph.Buffers[b.id].Elem }

// Range returns the bytes of the allocation that b covers.
func (b Buffer) Range() ir.Range { return ir.Range{Buffer: b.id, Lo: b.lo, Hi: b.hi} }

// whole reports whether b covers its allocation.
func (b Buffer) whole() bool { return b.lo == 0 && b.hi == b.t.graph.Buffers[b.id].Size() }

func (b Buffer) place() ir.PlaceKind { return b.t.graph.Buffers[b.id].Place.Kind }

func (b Buffer) name() string { return "@" + b.t.graph.Buffers[b.id].Name }

// Slice returns elements [lo, hi) of b. A slice of a zero Buffer is a zero Buffer.
func (b Buffer) Slice(lo, hi int64) Buffer {
	if b.t == nil {
		return b
	}
	if lo < 0 || hi < lo || hi > b.Len() {
		b.t.fail(b.t.callerPC(), "slice [%d:%d) of %s, which has %d elements", lo, hi, b.name(), b.Len())
		return b
	}
	size := b.elem().Size()
	b.lo, b.hi = b.lo+lo*size, b.lo+hi*size
	return b
}

// Alloc allocates n elements of device memory. A name already taken gets a
// number appended. The memory lives until the trace is closed. A temporary gets memory
// when it is first needed, which it never is in replays that keep it in an arena.
func (t *Tracer) Alloc(name string, elem ir.Type, n int64, role ir.Role) Buffer {
	return t.alloc(t.callerPC(), ir.Buffer{Name: name, Elem: elem, Len: n, Role: role})
}

// allocate is traced.Allocate.
func (b Buffer) allocate() {
	if b.t == nil || b.t.err != nil {
		return
	}
	if err := b.t.back(b.id); err != nil {
		b.t.err = fmt.Errorf("trace %s: %w", b.t.graph.Name, err)
	}
}

// AllocHost allocates n elements of pinned host memory; see HostBytes.
func (t *Tracer) AllocHost(name string, elem ir.Type, n int64, role ir.Role) Buffer {
	return t.alloc(t.callerPC(), ir.Buffer{Name: name, Elem: elem, Len: n, Role: role, Place: ir.Place{Kind: ir.PinnedHost}})
}

// AllocManaged allocates n elements of managed memory, which the host and kernels share;
// see Prefetch. The device must be a device.Manager.
func (t *Tracer) AllocManaged(name string, elem ir.Type, n int64, role ir.Role) Buffer {
	return t.alloc(t.callerPC(), ir.Buffer{Name: name, Elem: elem, Len: n, Role: role, Place: ir.Place{Kind: ir.Managed}})
}

// alloc declares buf in the graph and allocates its memory. After an error the buffer has no elements.
func (t *Tracer) alloc(pc uintptr, buf ir.Buffer) Buffer {
	if t == nil {
		return Buffer{}
	}
	t.stopped() // prepares a zero Tracer
	b := Buffer{t: t, memory: memory{id: ir.BufferID(len(t.buffers))}}
	if t.err == nil {
		if err := t.fits(&buf); err != nil {
			t.fail(pc, "buffer @%s %w", buf.Name, err)
		}
	}
	var a allocation
	if t.err == nil && t.settle() == nil {
		var err error
		if a, err = t.allocate(&buf, pc); err != nil {
			t.fail(pc, "buffer @%s of %d bytes: %w", buf.Name, buf.Size(), err)
		}
	}
	if t.err != nil {
		// Keep the handle usable so that the caller's next lines do not panic.
		buf.Len, a = 0, allocation{freed: true}
	}
	t.buffers = append(t.buffers, a)
	buf.Name = t.uniqueName(buf.Name)
	t.graph.Buffers = append(t.graph.Buffers, buf)
	b.hi = buf.Size()
	return b
}

// fits returns an error if the device cannot hold buf. It checks the size of a late temporary here, so
// that the error names the line of Alloc and not that of the first use.
func (t *Tracer) fits(buf *ir.Buffer) error {
	if err := bufsize.Check(buf.Elem, buf.Len); err != nil {
		return err
	}
	if limit := t.dev.Info().MemoryBytes; late(buf) && buf.Size() > limit {
		return fmt.Errorf("does not fit: %w", &device.Error{Call: "Alloc", Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of a device with %d", buf.Size(), limit)})
	}
	return nil
}

// uniqueName returns name, or name with a number appended if it is taken.
func (t *Tracer) uniqueName(name string) string {
	t.names[name]++
	n := t.names[name]
	if n == 1 {
		return name
	}
	return t.uniqueName(fmt.Sprintf("%s_%d", name, n))
}

// HostBytes returns the bytes of a pinned or managed buffer, valid until the trace is closed. Those of
// a managed buffer may be touched after ToHost. HostBytes returns nil for device memory, for memory of
// the caller that a Rebind has put in place of the buffer's, and where Read returns a BindingError.
func (b Buffer) HostBytes() []byte {
	host := b.hostBytes()
	if host != nil {
		b.markWritten() // the caller may write the bytes at any time
	}
	return host
}

// hostBytes returns the bytes of b. It returns nil if the host cannot reach them, and if live replays
// have b in different memory.
func (b Buffer) hostBytes() []byte {
	if b.t == nil {
		return nil
	}
	at, err := b.where()
	if err != nil {
		return nil
	}
	host := b.t.host(b.id, at)
	if host == nil {
		return nil
	}
	return host[b.lo:b.hi]
}

func (b Buffer) markWritten() { b.t.buffers[b.id].written.add(b.lo, b.hi) }

// ToHost waits for all work and moves the bytes of b, a buffer of AllocManaged, to the host, which may
// touch them afterwards. For pinned and device memory it does nothing and does not wait: call
// Synchronize before touching pinned memory.
func (b Buffer) ToHost() error {
	if b.t == nil {
		return errZero
	}
	if b.place() != ir.Managed || b.Bytes() == 0 {
		return nil
	}
	if err := b.t.settle(); err != nil {
		return err
	}
	at, err := b.where()
	if err != nil {
		return err
	}
	return b.t.manager.ToHost(at+device.Ptr(b.lo), b.Bytes())
}

// Free ends a buffer's use: a later call that names it is an error. The memory
// itself stays until the trace is closed, because replays need it.
func (t *Tracer) Free(b Buffer) {
	if t.stopped() {
		return
	}
	if b.t == t && t.buffers[b.id].freed {
		t.fail(t.callerPC(), "%w", sentinel.Errorf(device.ErrFreed, "%s is freed twice", b.name()))
		return
	}
	if err := t.usable(b); err != nil {
		t.fail(t.callerPC(), "free: %w", err)
		return
	}
	if t.settle() == nil {
		t.buffers[b.id].freed = true
	}
}

// usable returns an error if a call of the program may not name b: b is zero, of another trace, freed,
// or returned by At.
func (t *Tracer) usable(b Buffer) error {
	switch {
	case b.t == nil:
		return errZero
	case b.t != t:
		return sentinel.Errorf(sentinel.ErrOtherTrace, "%s belongs to another tracer, of trace %s: pass a buffer of this one", b.name(), b.t.graph.Name)
	case b.at > 0:
		return fmt.Errorf("%s was returned by At, which is for Read, Write, Draft and ToHost: pass the buffer itself", b.name())
	case t.buffers[b.id].freed:
		return sentinel.Errorf(device.ErrFreed, "%s is used after it was freed", b.name())
	}
	return nil
}
