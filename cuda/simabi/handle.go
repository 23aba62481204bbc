//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"maps"
	"unsafe"
)

// handle is what a C handle type holds: a number in the shape of a pointer, counted
// up over all kinds, so that a handle of one kind is none of another.
type handle uintptr

// of is the handle in a C variable of a handle type.
func of(p unsafe.Pointer) handle { return handle(uintptr(p)) }

// put stores a handle where C wants it.
func (h handle) put(at unsafe.Pointer) { *(*handle)(at) = h }

// nextHandle lies where no mapping is, in case a program dereferences one.
var nextHandle handle = 0x5200_0000_0000

// handles is the meaning of the live handles of one kind.
type handles[T owned] struct{ live map[handle]T }

// owned is what lives in a context, and no longer than that; the owner is nil of what
// lives in none.
type owned interface{ owner() *context }

// kinds are the tables that have had a handle.
var kinds []interface{ forget(*context) }

// forget ends the life of the handles of what a context owned.
func forget(c *context) {
	for _, k := range kinds {
		k.forget(c)
	}
}

func (h *handles[T]) forget(c *context) {
	maps.DeleteFunc(h.live, func(_ handle, v T) bool { return v.owner() == c })
}

func (h *handles[T]) add(v T) handle {
	if h.live == nil {
		h.live = map[handle]T{}
		kinds = append(kinds, h)
	}
	nextHandle += 16
	h.live[nextHandle] = v
	return nextHandle
}

// get is what a handle stands for, or CUDA_ERROR_INVALID_HANDLE. While another thread destroys the context that it lives
// in, it is CUDA_ERROR_CONTEXT_IS_DESTROYED.
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

func (h *handles[T]) remove(n handle) (T, error) {
	v, ok := h.live[n]
	if !ok {
		return v, invalidHandle
	}
	delete(h.live, n)
	return v, nil
}
