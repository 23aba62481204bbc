//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

//export sim_cuMemAlloc_v2
func sim_cuMemAlloc_v2(p *C.CUdeviceptr, bytes C.size_t) C.CUresult {
	return inContext(func(c *context) error {
		if p == nil || bytes == 0 {
			return invalidValue
		}
		at, err := c.sim.Alloc(int64(bytes))
		*p = C.CUdeviceptr(at)
		return err
	})
}

//export sim_cuMemFree_v2
func sim_cuMemFree_v2(p C.CUdeviceptr) C.CUresult {
	return inContext(func(c *context) error {
		if p == 0 {
			return nil
		}
		return c.sim.Free(device.Ptr(p))
	})
}

//export sim_cuMemcpyHtoD_v2
func sim_cuMemcpyHtoD_v2(dst C.CUdeviceptr, src unsafe.Pointer, bytes C.size_t) C.CUresult {
	return inContext(func(c *context) error {
		return c.sim.Write(device.Ptr(dst), unsafe.Slice((*byte)(src), bytes))
	})
}

//export sim_cuMemcpyDtoH_v2
func sim_cuMemcpyDtoH_v2(dst unsafe.Pointer, src C.CUdeviceptr, bytes C.size_t) C.CUresult {
	return inContext(func(c *context) error {
		return c.sim.Read(unsafe.Slice((*byte)(dst), bytes), device.Ptr(src))
	})
}
