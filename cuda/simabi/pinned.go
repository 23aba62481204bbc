//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// The flags of cuMemHostAlloc and cuMemHostRegister. With unified addressing
// all such memory is portable and mapped anyway.
const (
	hostAllocFlags    = C.CU_MEMHOSTALLOC_PORTABLE | C.CU_MEMHOSTALLOC_DEVICEMAP | C.CU_MEMHOSTALLOC_WRITECOMBINED
	hostRegisterFlags = C.CU_MEMHOSTREGISTER_PORTABLE | C.CU_MEMHOSTREGISTER_DEVICEMAP | C.CU_MEMHOSTREGISTER_IOMEMORY | C.CU_MEMHOSTREGISTER_READ_ONLY
)

// hostBlock returns the block of pinned or registered memory that contains an
// address.
func hostBlock(p unsafe.Pointer) (*block, error) {
	b := blocks.at(C.CUdeviceptr(uintptr(p)))
	if b == nil || b.kind != pinnedBlock && b.kind != registeredBlock {
		return nil, invalidValue
	}
	return b, nil
}

//export sim_cuMemAllocHost_v2
func sim_cuMemAllocHost_v2(p *unsafe.Pointer, n C.size_t) C.CUresult {
	return sim_cuMemHostAlloc(p, n, 0)
}

//export sim_cuMemHostAlloc
func sim_cuMemHostAlloc(p *unsafe.Pointer, n C.size_t, flags C.uint) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if p == nil || n == 0 || flags&^hostAllocFlags != 0 {
			return invalidValue
		}
		if n > contract.MaxHostAlloc {
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		}
		b, err := c.lendPages(int64(n), pinnedBlock, flags, "pinned")
		if err != nil {
			return err
		}
		*p = unsafe.Pointer(&b.pages[0])
		return nil
	})
}

//export sim_cuMemFreeHost
func sim_cuMemFreeHost(p unsafe.Pointer) C.CUresult {
	return onNamedUnsafe(func() error {
		b, err := hostBlock(p)
		if err != nil || b.kind != pinnedBlock || b.at != device.Ptr(uintptr(p)) {
			return invalidValue
		}
		return b.free()
	})
}

// sim_cuMemHostRegister_v2 makes memory of the program accessible to kernels at the same address. Memory that overlaps
// memory of the driver is refused. Memory of devices (IOMEMORY) cannot be registered.
//
//simabi:also cuMemHostRegister
//export sim_cuMemHostRegister_v2
func sim_cuMemHostRegister_v2(p unsafe.Pointer, n C.size_t, flags C.uint) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		size, err := length(n)
		switch {
		case err != nil || p == nil || n == 0 || flags&^hostRegisterFlags != 0:
			return invalidValue
		case flags&C.CU_MEMHOSTREGISTER_IOMEMORY != 0:
			return status(C.CUDA_ERROR_NOT_PERMITTED)
		case driver.system.Overlaps(device.Ptr(uintptr(p)), size):
			return status(C.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
		}
		pages, err := bytesAt(p, n)
		if err != nil {
			return err
		}
		_, err = c.lend(pages, registeredBlock, flags, "registered")
		return err
	})
}

//export sim_cuMemHostUnregister
func sim_cuMemHostUnregister(p unsafe.Pointer) C.CUresult {
	return onNamedUnsafe(func() error {
		if p == nil {
			return invalidValue
		}
		b := blocks.starting(device.Ptr(uintptr(p)))
		if b == nil || b.kind != registeredBlock {
			return status(C.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
		}
		return b.free()
	})
}

// sim_cuMemHostGetDevicePointer_v2 returns the same address, because host and devices share one address space.
//
//export sim_cuMemHostGetDevicePointer_v2
func sim_cuMemHostGetDevicePointer_v2(out *C.CUdeviceptr, p unsafe.Pointer, flags C.uint) C.CUresult {
	return onNamed(func(*thread) error {
		if out == nil || flags != 0 {
			return invalidValue
		}
		_, err := hostBlock(p)
		if err == nil {
			*out = C.CUdeviceptr(uintptr(p))
		}
		return err
	})
}

//export sim_cuMemHostGetFlags
func sim_cuMemHostGetFlags(flags *C.uint, p unsafe.Pointer) C.CUresult {
	return onNamed(func(*thread) error {
		if flags == nil {
			return invalidValue
		}
		b, err := hostBlock(p)
		if err == nil {
			*flags = b.flags
		}
		return err
	})
}
