//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"maps"
	"unsafe"
)

// A handle table maps numbers to objects, one table per kind of object:
//
//	CUstream 0x520000000010 ─► handles[*stream] ─► *stream ─► *context
//	CUevent  0x520000000020 ─► handles[*event]  ─► *event  ─► *context
//
// All tables draw from one counter, which is never reset. A number therefore identifies at most one object in the
// lifetime of the process, and a lookup in the table of another kind fails. Lookups are O(1).
//
// Objects that belong to a context are removed from all tables when the context is destroyed, in one pass over each
// table (forget). While the context is being closed by another thread, lookups of its objects return
// CUDA_ERROR_CONTEXT_IS_DESTROYED. Memory, textures and conditions have keys of their own (addresses and the device's
// numbers) and implement only forget.

// handle is the value of a C handle type: a number in the type of a pointer.
type handle uintptr

// of returns the handle in a C variable of a handle type.
func of(p unsafe.Pointer) handle { return handle(uintptr(p)) }

// put stores a handle in a C variable.
func (h handle) put(at unsafe.Pointer) { *(*handle)(at) = h }

// nextHandle is far from all mappings, so that a program that dereferences a handle
// faults.
var nextHandle handle = 0x5200_0000_0000

// handles maps the live handles of one kind to their objects.
type handles[T owned] struct{ live map[handle]T }

// owned is implemented by objects that exist in a context and are destroyed with
// it. The owner is nil for other objects.
type owned interface{ owner() *context }

// kinds lists the tables whose objects belong to contexts. A handle table is added with its first object.
var kinds []interface{ forget(*context) }

// forget invalidates the handles of objects that a context owned.
func forget(c *context) {
	for _, k := range kinds {
		k.forget(c)
	}
}

// forget removes the objects of a context.
func (h *handles[T]) forget(c *context) {
	maps.DeleteFunc(h.live, func(_ handle, v T) bool { return v.owner() == c })
}

// add returns a new handle of an object.
func (h *handles[T]) add(v T) handle {
	if h.live == nil {
		h.live = map[handle]T{}
		kinds = append(kinds, h)
	}
	nextHandle += 16
	h.live[nextHandle] = v
	return nextHandle
}

// get returns the object of a handle, or CUDA_ERROR_INVALID_HANDLE. While another
// thread destroys the object's context, it returns CUDA_ERROR_CONTEXT_IS_DESTROYED.
func (h *handles[T]) get(n handle) (T, error) {
	v, ok := h.live[n]
	if !ok {
		return v, invalidHandle
	}
	if c := v.owner(); c != nil && c.destroyed {
		return v, status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	}
	return v, nil
}

// remove invalidates a handle and returns its object, or CUDA_ERROR_INVALID_HANDLE.
func (h *handles[T]) remove(n handle) (T, error) {
	v, ok := h.live[n]
	if !ok {
		return v, invalidHandle
	}
	delete(h.live, n)
	return v, nil
}
