//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"math/bits"

	"github.com/reprise-gpu/reprise/device"
)

// alloc allocates device memory.
func (c *context) alloc(n C.size_t) (*block, error) {
	if n == 0 {
		return nil, invalidValue
	}
	if n > 1<<62 {
		return nil, status(C.CUDA_ERROR_OUT_OF_MEMORY)
	}
	at, err := c.sim.Alloc(int64(n))
	if err != nil {
		return nil, err
	}
	return blocks.add(&block{at: at, size: int64(n), context: c}), nil
}

//export sim_cuMemAlloc_v2
func sim_cuMemAlloc_v2(p *C.CUdeviceptr, n C.size_t) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if p == nil {
			return invalidValue
		}
		b, err := c.alloc(n)
		if err != nil {
			return err
		}
		*p = C.CUdeviceptr(b.at)
		return nil
	})
}

// pitchAlign is the unit to which cuMemAllocPitch rounds rows up: the alignment of
// textures.
const pitchAlign = 512

// sim_cuMemAllocPitch_v2 rounds rows up to a multiple of pitchAlign bytes, so that each row is aligned for textures.
//
//export sim_cuMemAllocPitch_v2
func sim_cuMemAllocPitch_v2(p *C.CUdeviceptr, pitch *C.size_t, width, height C.size_t, element C.uint) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		switch {
		case p == nil || pitch == nil || width == 0 || height == 0,
			element != 4 && element != 8 && element != 16,
			width > 1<<62:
			return invalidValue
		}
		row := (width + pitchAlign - 1) &^ (pitchAlign - 1)
		over, n := bits.Mul64(uint64(row), uint64(height))
		if over != 0 {
			return status(C.CUDA_ERROR_OUT_OF_MEMORY)
		}
		b, err := c.alloc(C.size_t(n))
		if err != nil {
			return err
		}
		*p, *pitch = C.CUdeviceptr(b.at), row
		return nil
	})
}

// sim_cuMemFree_v2 waits for the device of the memory's context.
//
//export sim_cuMemFree_v2
func sim_cuMemFree_v2(p C.CUdeviceptr) C.CUresult {
	return onNamedUnsafe(func() error {
		if p == 0 {
			return nil
		}
		if m := graphMemories[device.Ptr(p)]; m != nil {
			return m.free()
		}
		b := blocks.starting(device.Ptr(p))
		if b == nil || b.kind != deviceBlock && b.kind != managedBlock || b.opens > 0 {
			return invalidValue
		}
		return b.free()
	})
}

// sim_cuMemGetInfo_v2 stores the free and total memory of the GPU in bytes, over all contexts.
//
//export sim_cuMemGetInfo_v2
func sim_cuMemGetInfo_v2(free, total *C.size_t) C.CUresult {
	return inContext(func(c *context) error {
		if free == nil || total == nil {
			return invalidValue
		}
		f, t := c.gpu.sim.Memory()
		*free, *total = C.size_t(f), C.size_t(t)
		return c.sim.Err()
	})
}

//export sim_cuMemGetAddressRange_v2
func sim_cuMemGetAddressRange_v2(base *C.CUdeviceptr, size *C.size_t, p C.CUdeviceptr) C.CUresult {
	return onNamed(func(*thread) error {
		at, n, ok := driver.system.Range(device.Ptr(p))
		if !ok {
			return status(C.CUDA_ERROR_NOT_FOUND)
		}
		if base != nil {
			*base = C.CUdeviceptr(at)
		}
		if size != nil {
			*size = C.size_t(n)
		}
		return nil
	})
}
