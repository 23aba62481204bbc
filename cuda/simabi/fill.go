//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// fill enqueues a memset of rows of count elements of width bytes. The synchronous
// forms wait only if the memory is the host's.
func fill(h C.CUstream, wait bool, dst C.CUdeviceptr, pitch C.size_t, value C.uint, width C.uint, count, rows C.size_t) C.CUresult {
	return inStream(h, func(s *stream) error {
		p := C.CUDA_MEMSET_NODE_PARAMS_v1{dst: dst, pitch: pitch, value: value, elementSize: width, width: count, height: rows}
		switch {
		case count == 0 || rows == 0:
			return s.context.sim.Err()
		case s.capture.Capturing() && wait:
			return s.idle()
		case s.capture.Capturing():
			n, err := newMemsetNode(s.context, &p)
			if err != nil {
				return err
			}
			return s.add(n)
		case wait:
			if err := captures.Unsafe(&driver.caller.capture); err != nil {
				return err
			}
		}
		f, err := fillOf(&p)
		if err != nil {
			return err
		}
		if err := s.submit(f); err != nil {
			return err
		}
		if wait && blocks.at(dst).onHost() {
			return s.context.sim.Synchronize(s.sim)
		}
		return nil
	})
}

// fillOf returns the memset of a graph node.
func fillOf(p *C.CUDA_MEMSET_NODE_PARAMS_v1) (*sim.Fill, error) {
	count, err := length(p.width)
	if err != nil {
		return nil, err
	}
	rows, err := length(p.height)
	if err != nil {
		return nil, err
	}
	f := &sim.Fill{Dst: device.Ptr(p.dst), Value: uint32(p.value), Width: int(p.elementSize), Count: count, Rows: rows}
	if rows > 1 {
		f.Pitch, err = length(p.pitch)
	}
	return f, err
}

//export sim_cuMemsetD8_v2
func sim_cuMemsetD8_v2(dst C.CUdeviceptr, v C.uchar, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, C.uint(v), 1, n, 1)
}

//export sim_cuMemsetD16_v2
func sim_cuMemsetD16_v2(dst C.CUdeviceptr, v C.ushort, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, C.uint(v), 2, n, 1)
}

//export sim_cuMemsetD32_v2
func sim_cuMemsetD32_v2(dst C.CUdeviceptr, v C.uint, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, v, 4, n, 1)
}

//export sim_cuMemsetD2D8_v2
func sim_cuMemsetD2D8_v2(dst C.CUdeviceptr, pitch C.size_t, v C.uchar, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, C.uint(v), 1, width, height)
}

//export sim_cuMemsetD2D16_v2
func sim_cuMemsetD2D16_v2(dst C.CUdeviceptr, pitch C.size_t, v C.ushort, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, C.uint(v), 2, width, height)
}

//export sim_cuMemsetD2D32_v2
func sim_cuMemsetD2D32_v2(dst C.CUdeviceptr, pitch C.size_t, v C.uint, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, v, 4, width, height)
}

//export sim_cuMemsetD8Async
func sim_cuMemsetD8Async(dst C.CUdeviceptr, v C.uchar, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, C.uint(v), 1, n, 1)
}

//export sim_cuMemsetD16Async
func sim_cuMemsetD16Async(dst C.CUdeviceptr, v C.ushort, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, C.uint(v), 2, n, 1)
}

//export sim_cuMemsetD32Async
func sim_cuMemsetD32Async(dst C.CUdeviceptr, v C.uint, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, v, 4, n, 1)
}

//export sim_cuMemsetD2D8Async
func sim_cuMemsetD2D8Async(dst C.CUdeviceptr, pitch C.size_t, v C.uchar, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, C.uint(v), 1, width, height)
}

//export sim_cuMemsetD2D16Async
func sim_cuMemsetD2D16Async(dst C.CUdeviceptr, pitch C.size_t, v C.ushort, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, C.uint(v), 2, width, height)
}

//export sim_cuMemsetD2D32Async
func sim_cuMemsetD2D32Async(dst C.CUdeviceptr, pitch C.size_t, v C.uint, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, v, 4, width, height)
}
