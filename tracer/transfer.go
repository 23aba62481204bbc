package tracer

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// Copy records a copy of all of src to dst, which must have the same size in bytes and must not overlap
// it. Either may be device, managed or pinned host memory.
func (t *Tracer) Copy(dst, src Buffer) Op {
	if t.stopped() {
		return Op{}
	}
	pc := t.callerPC()
	for _, b := range []Buffer{dst, src} {
		if err := t.usable(b); err != nil {
			t.fail(pc, "copy: %w", err)
			return Op{}
		}
	}
	if dst.Bytes() != src.Bytes() {
		t.fail(pc, "copy of %d bytes of %s to %d bytes of %s: slice the longer one", src.Bytes(), src.name(), dst.Bytes(), dst.name())
		return Op{}
	}
	if dst.Range().Overlaps(src.Range()) {
		t.fail(pc, "copy between overlapping ranges of %s", dst.name())
		return Op{}
	}
	return t.transfer(ir.KindCopy, pc, ranged(dst), ranged(src))
}

// transfer records a call that is no launch, or runs it, as the mode requires.
func (t *Tracer) transfer(kind ir.Kind, pc uintptr, of, with calls.Operand) Op {
	c := t.hand
	*c = calls.Call{Kind: kind, PC: pc, Operands: append(c.Operands[:0], of, with)}
	if t.mode == Direct {
		t.perform()
		return Op{}
	}
	o := t.record(t.operation(c, nil), pc)
	if t.mode == Eager {
		t.issue(c)
	}
	return o
}

// Memset records a fill of b with the bytes of value, a Go number of the
// element type; elements are at most 4 bytes wide unless value is zero.
func (t *Tracer) Memset(b Buffer, value any) Op {
	if t.stopped() {
		return Op{}
	}
	pc := t.callerPC()
	if err := t.usable(b); err != nil {
		t.fail(pc, "memset: %w", err)
		return Op{}
	}
	v, err := ir.NewScalar(b.elem(), value)
	if err != nil {
		t.fail(pc, "memset of %s: %w", b.name(), err)
		return Op{}
	}
	pattern, ok := memsetPattern(v)
	if !ok {
		t.fail(pc, "memset of %s: a fill pattern has 1, 2 or 4 bytes, and %v has %d: fill it with 0, or launch a kernel", b.name(), v.Type, v.Type.Size())
		return Op{}
	}
	return t.transfer(ir.KindMemset, pc, ranged(b), calls.Valued(pattern))
}

// Prefetch records a move of managed memory to the device, or to the host, before
// its next access. The graph back end enqueues prefetches before and after its
// graph, which cannot contain them.
func (t *Tracer) Prefetch(b Buffer, toDevice bool) Op {
	if t.stopped() {
		return Op{}
	}
	pc := t.callerPC()
	if err := t.usable(b); err != nil {
		t.fail(pc, "prefetch: %w", err)
		return Op{}
	}
	if b.place() != ir.Managed {
		t.fail(pc, "prefetch of %s, which is not managed memory and does not move: allocate it with AllocManaged, or copy", b.name())
		return Op{}
	}
	way := ir.Scalar{Type: ir.U8}
	if toDevice {
		way.Bits = 1
	}
	return t.transfer(ir.KindPrefetch, pc, ranged(b), calls.Valued(way))
}

// memsetPattern returns the value as an unsigned integer of 1, 2 or 4 bytes, the widths that the driver
// fills with. An 8-byte value is possible if its halves are equal.
func memsetPattern(v ir.Scalar) (ir.Scalar, bool) {
	switch v.Type.Size() {
	case 1:
		return ir.Scalar{Type: ir.U8, Bits: v.Bits}, true
	case 2:
		return ir.Scalar{Type: ir.U16, Bits: v.Bits}, true
	case 4:
		return ir.Scalar{Type: ir.U32, Bits: v.Bits}, true
	}
	hi, lo := v.Bits>>32, v.Bits&0xffffffff
	return ir.Scalar{Type: ir.U32, Bits: lo}, hi == lo
}

// Use is a declared access of a host call.
type Use struct {
	Buffer Buffer
	Mode   ir.Mode
}

// HostCall records a call of f, which runs when the stream reaches it. f may touch the declared pinned
// host buffers and must not call the device. If f returns an error or panics, the next call that waits
// for the work returns a device.HostError: in a replay, Exec.Wait. The work behind f runs nevertheless.
func (t *Tracer) HostCall(label string, f func() error, uses ...Use) {
	if t.stopped() {
		return
	}
	pc := t.callerPC()
	if f == nil {
		t.fail(pc, "host call %s: %w", label, absent.Nil("the function"))
		return
	}
	op := ir.Op{Kind: ir.KindHost, Label: label}
	for _, u := range uses {
		if u.Mode > ir.Reduce {
			t.fail(pc, "host call %s: unknown mode %d of a use: use ir.Read, ir.Write, ir.ReadWrite or ir.Reduce", label, u.Mode)
			return
		}
		if err := t.usable(u.Buffer); err != nil {
			t.fail(pc, "host call %s: %w", label, err)
			return
		}
		switch u.Buffer.place() {
		case ir.OnDevice:
			t.fail(pc, "host call %s: %s is device memory, which the host cannot reach: copy it to pinned memory first", label, u.Buffer.name())
			return
		case ir.Managed:
			t.fail(pc, "host call %s: %s is managed memory, which a host call cannot bring home: copy it to pinned memory first", label, u.Buffer.name())
			return
		}
		op.Uses = append(op.Uses, ir.Access{Range: u.Buffer.Range(), Mode: u.Mode})
	}
	if t.mode != Direct {
		t.hosts[t.record(op, pc).id] = f
	}
	if t.settle() != nil {
		return
	}
	t.run(&op, lower.Settings{Label: t.label(label, pc), Host: f}, pc)
}

// Element is a Go type that a buffer can hold.
type Element interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~float32 | ~uint64 | ~int64 | ~float64
}

// Write sets the contents of a buffer now, and Read returns them; neither is recorded. The element types
// and the lengths in bytes must agree, else the error wraps ErrElement.
//
// Pinned memory is touched at once: synchronize first if work in flight uses it. Managed memory moves to
// the host and stays there. A temporary can be read only if it has memory of its own, which a Write or a
// replay without a memory plan allocates.
//
// A buffer that replays have bound to other memory, by Swap or Rebind, is read and written there. If live
// replays of the trace have it in different memory, the error is a BindingError: see Buffer.At.
func Write[T Element](b Buffer, data []T) error {
	raw := bytesOf(data)
	if err := fits[T]("write", b, len(raw)); err != nil {
		return err
	}
	if len(raw) == 0 {
		return nil
	}
	if err := b.t.settle(); err != nil {
		return fmt.Errorf("write %s: %w", b.name(), err)
	}
	at, err := b.where()
	if err != nil {
		return fmt.Errorf("write %s: %w", b.name(), err)
	}
	if err := b.ToHost(); err != nil {
		return fmt.Errorf("write %s: %w", b.name(), err)
	}
	if host := b.hostBytes(); host != nil {
		copy(host, raw)
		b.markWritten()
		return nil
	}
	if at == 0 {
		if err := b.t.back(b.id); err != nil {
			return fmt.Errorf("write %s: %w", b.name(), err)
		}
		at = b.t.buffers[b.id].ptr
	}
	if err := b.t.dev.Write(at+device.Ptr(b.lo), raw); err != nil {
		return fmt.Errorf("write %s: %w", b.name(), err)
	}
	b.markWritten()
	return nil
}

// Read fills data with the contents of a buffer; see Write.
func Read[T Element](data []T, b Buffer) error {
	raw := bytesOf(data)
	if err := fits[T]("read", b, len(raw)); err != nil {
		return err
	}
	if len(raw) == 0 {
		return nil
	}
	if err := b.t.settle(); err != nil {
		return fmt.Errorf("read %s: %w", b.name(), err)
	}
	at, err := b.where()
	if err != nil {
		return fmt.Errorf("read %s: %w", b.name(), err)
	}
	if err := b.ToHost(); err != nil {
		return fmt.Errorf("read %s: %w", b.name(), err)
	}
	if host := b.hostBytes(); host != nil {
		copy(raw, host)
		return nil
	}
	if at == 0 && b.t.buffers[b.id].closed {
		return fmt.Errorf("read %w", b.t.errClosed(b.id))
	}
	if at == 0 {
		return fmt.Errorf("read %s: it is temporary and has no memory of its own: declare it an output to read it", b.name())
	}
	if err := b.t.dev.Read(raw, at+device.Ptr(b.lo)); err != nil {
		return fmt.Errorf("read %s: %w", b.name(), err)
	}
	return nil
}

// ErrElement is in the chain of errors about numbers of one type that were written to, or read from, a
// buffer of another type.
var ErrElement = errors.New("another element type")

// fits returns an error if n bytes of numbers of type T cannot be the contents of b. The types must agree
// in width and in being floating-point or not. Bytes, and unsigned integers of the same width, may hold
// the bits of any type.
func fits[T Element](verb string, b Buffer, n int) error {
	if b.t == nil {
		return fmt.Errorf("%s: %w", verb, errZero)
	}
	if typ := reflect.TypeFor[T](); n > 0 && !holds(typ, b.elem()) {
		return fmt.Errorf("%s of %v, but %s is of %v: %w: convert the numbers, or use the bytes", verb, typ, b.name(), b.elem(), ErrElement)
	}
	if int64(n) != b.Bytes() {
		return fmt.Errorf("%s of %d bytes, but %s has %d: the lengths must agree", verb, n, b.name(), b.Bytes())
	}
	return nil
}

// holds reports whether numbers of a Go type may be elements of type elem: see fits.
func holds(typ reflect.Type, elem ir.Type) bool {
	same := int64(typ.Size()) == elem.Size()
	switch typ.Kind() {
	case reflect.Uint8:
		return true
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return same
	case reflect.Float32, reflect.Float64:
		return same && elem.Float()
	}
	return same && !elem.Float()
}

// Draft returns a slice to fill and then to pass to Write for b. For pinned and managed memory it is the
// memory of b itself, so that large data need not be in memory twice; managed memory moves to the host.
// For device memory it is a new slice.
func Draft[T Element](b Buffer) ([]T, error) {
	if err := fits[T]("draft", b, int(b.Bytes())); err != nil {
		return nil, err
	}
	if _, err := b.where(); err != nil {
		return nil, fmt.Errorf("draft %s: %w", b.name(), err)
	}
	n := int(b.Bytes()) / int(unsafe.Sizeof(*new(T)))
	host := b.hostBytes()
	if n == 0 || host == nil {
		return make([]T, n), nil
	}
	if err := b.ToHost(); err != nil {
		return nil, fmt.Errorf("draft %s: %w", b.name(), err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&host[0])), n), nil
}

// bytesOf returns the bytes of a slice of numbers, without a copy.
func bytesOf[T Element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
