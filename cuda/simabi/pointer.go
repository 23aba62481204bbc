//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// pointer contains the properties of an address.
type pointer struct {
	at      C.CUdeviceptr
	base    device.Ptr
	size    int64
	block   *block   // nil for a variable of a module
	context *context // nil if the address is not in memory of a context

	reserved *reservedAt // set instead if the address is in a reservation
}

// known reports whether the address is in memory or in a reservation.
func (q *pointer) known() bool { return q.context != nil || q.reserved != nil }

// pointerAt finds the memory that contains an address: a reservation, a block, or a variable of a module, whose context
// is that of the device that owns the address.
func pointerAt(p C.CUdeviceptr) pointer {
	q := pointer{at: p}
	if base, size, ok := driver.system.Reservation(device.Ptr(p)); ok {
		q.reserved = &reservedAt{device.Ptr(p), base, size}
		return q
	}
	base, size, ok := driver.system.Range(device.Ptr(p))
	if !ok {
		return q
	}
	q.base, q.size, q.block = base, size, blocks.starting(base)
	switch owner := driver.system.Owner(device.Ptr(p)); {
	case q.block != nil:
		q.context = q.block.context
	case blocks[base] == nil: // and not one that is being freed
		for _, c := range contexts.live {
			if c.sim == owner && owner != nil {
				q.context = c
			}
		}
	}
	return q
}

// attribute stores an attribute. It returns false if this memory does not have it.
func (q *pointer) attribute(a C.CUpointer_attribute, out unsafe.Pointer) bool {
	if q.reserved != nil {
		return q.reserved.attribute(a, out)
	}
	b := q.block
	host := b.onHost()
	switch a {
	case C.CU_POINTER_ATTRIBUTE_CONTEXT:
		q.context.handle.put(out)
	case C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(*C.CUmemorytype)(out) = C.CU_MEMORYTYPE_DEVICE
		if host && b.kind != managedBlock {
			*(*C.CUmemorytype)(out) = C.CU_MEMORYTYPE_HOST
		}
	case C.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(*C.CUdeviceptr)(out) = q.at
	case C.CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(*C.CUdeviceptr)(out) = 0
		if host {
			*(*C.CUdeviceptr)(out) = q.at
		}
		return host
	case C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(*bool)(out) = b != nil && b.syncMemops
	case C.CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(*uint64)(out) = uint64(q.base) << 8 // a variable of a module; other ids are small
		if b != nil {
			*(*uint64)(out) = b.id
		}
	case C.CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(*bool)(out) = b != nil && b.kind == managedBlock
	case C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(*C.int)(out) = C.int(q.context.gpu.ordinal)
	case C.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*(*bool)(out) = b.exportable()
	case C.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(*bool)(out) = false
	case C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(*device.Ptr)(out) = q.base
	case C.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(*C.size_t)(out) = C.size_t(q.size)
	case C.CU_POINTER_ATTRIBUTE_MAPPED:
		*(*bool)(out) = true
	case C.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(*uint64)(out) = 0
	case C.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(*C.uint)(out) = C.CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
	case C.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		handle(0).put(out)
		if b != nil && b.pool != nil {
			b.pool.handle.put(out)
		}
	default:
		return false
	}
	return true
}

// attributeBytes returns the size of an attribute's value, 0 if there is no such
// attribute.
func attributeBytes(a C.CUpointer_attribute) int {
	switch a {
	case C.CU_POINTER_ATTRIBUTE_CONTEXT, C.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, C.CU_POINTER_ATTRIBUTE_HOST_POINTER,
		C.CU_POINTER_ATTRIBUTE_BUFFER_ID, C.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, C.CU_POINTER_ATTRIBUTE_RANGE_SIZE,
		C.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, C.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
		C.CU_POINTER_ATTRIBUTE_MAPPING_SIZE, C.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		return 8
	case C.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, C.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return 4
	case C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, C.CU_POINTER_ATTRIBUTE_IS_MANAGED, C.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
		C.CU_POINTER_ATTRIBUTE_MAPPED, C.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		return 1 // a bool: a larger store would overrun it, and callers with an int clear it first
	}
	return 0
}

// sim_cuPointerGetAttribute refuses an unknown address, and attributes that its memory does not have.
//
//export sim_cuPointerGetAttribute
func sim_cuPointerGetAttribute(data unsafe.Pointer, a C.CUpointer_attribute, p C.CUdeviceptr) C.CUresult {
	return call(func(*thread) error {
		q := pointerAt(p)
		if data == nil || !q.known() || !q.attribute(a, data) {
			return invalidValue
		}
		return nil
	})
}

// sim_cuPointerGetAttributes accepts an unknown address: its
// attributes are all zero, and it has no device.
//
//export sim_cuPointerGetAttributes
func sim_cuPointerGetAttributes(n C.uint, attributes *C.CUpointer_attribute, data *unsafe.Pointer, p C.CUdeviceptr) C.CUresult {
	return call(func(*thread) error {
		if attributes == nil || data == nil || n == 0 {
			return invalidValue
		}
		list, values := unsafe.Slice(attributes, n), unsafe.Slice(data, n)
		for i, a := range list {
			if values[i] == nil || attributeBytes(a) == 0 {
				return invalidValue
			}
		}
		q := pointerAt(p)
		for i, a := range list {
			switch {
			case q.known() && q.attribute(a, values[i]):
			case a == C.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
				*(*C.int)(values[i]) = C.CU_DEVICE_INVALID
			default:
				clear(unsafe.Slice((*byte)(values[i]), attributeBytes(a)))
			}
		}
		return nil
	})
}

//export sim_cuPointerSetAttribute
func sim_cuPointerSetAttribute(value unsafe.Pointer, a C.CUpointer_attribute, p C.CUdeviceptr) C.CUresult {
	return call(func(*thread) error {
		b := blocks.at(p)
		if value == nil || a != C.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || b == nil || b.kind == managedBlock {
			return invalidValue
		}
		b.syncMemops = *(*byte)(value) != 0
		return nil
	})
}
