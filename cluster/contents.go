package cluster

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/reprise-gpu/reprise/tracer"
)

// Write sets the contents of a buffer before the next step. All ranks write the same contents. A rank may pass a slice of
// the buffer that contains what its devices access, which Plan.Part returns in bytes.
func Write[T tracer.Element](p *Plan, b tracer.Buffer, data []T) error {
	raw, err := bytesOf("write", b, data)
	if err != nil {
		return err
	}
	return p.Write(b.Range(), raw)
}

// Read copies the contents of a buffer to data after all steps so far. It is collective: every rank gets all of it. Before the
// first step, Read returns what any rank has written, and zero for the rest.
func Read[T tracer.Element](ctx context.Context, p *Plan, data []T, b tracer.Buffer) error {
	raw, err := bytesOf("read", b, data)
	if err != nil {
		return err
	}
	return p.Read(ctx, raw, b.Range())
}

// bytesOf returns the bytes of data. It returns an error if they cannot be the contents of b. Bytes may hold elements of any
// type.
func bytesOf[T tracer.Element](verb string, b tracer.Buffer, data []T) ([]byte, error) {
	var one T
	decl := b.Declaration()
	size := int64(unsafe.Sizeof(one))
	if size != 1 && size != decl.Elem.Size() {
		return nil, fmt.Errorf("%s of %T, but %s is of %v: convert the numbers, or use the bytes", verb, one, decl.Name, decl.Elem)
	}
	if int64(len(data))*size != b.Bytes() {
		return nil, fmt.Errorf("%s of %d bytes, but the part of %s has %d", verb, int64(len(data))*size, decl.Name, b.Bytes())
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), int64(len(data))*size), nil
}
