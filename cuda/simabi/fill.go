//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

// fill enqueues a memset of rows of count elements of width bytes. The plain ones wait
// only for memory of the host.
func fill(h C.CUstream, wait bool, dst C.CUdeviceptr, pitch C.size_t, value uint32, width int, count, rows C.size_t) C.CUresult {
	return inStream(h, func(s *stream) error {
		if count == 0 || rows == 0 {
			return s.context.sim.Err()
		}
		f, err := newFill(dst, pitch, value, width, count, rows)
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

func newFill(dst C.CUdeviceptr, pitch C.size_t, value uint32, width int, count, rows C.size_t) (*sim.Fill, error) {
	n, err := length(count)
	if err != nil {
		return nil, err
	}
	r, err := length(rows)
	if err != nil {
		return nil, err
	}
	p, err := length(pitch)
	if err != nil && rows > 1 {
		return nil, err
	}
	return &sim.Fill{Dst: device.Ptr(dst), Pitch: p, Value: value, Width: width, Count: n, Rows: r}, nil
}

//export sim_cuMemsetD8_v2
func sim_cuMemsetD8_v2(dst C.CUdeviceptr, v C.uchar, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, uint32(v), 1, n, 1)
}

//export sim_cuMemsetD16_v2
func sim_cuMemsetD16_v2(dst C.CUdeviceptr, v C.ushort, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, uint32(v), 2, n, 1)
}

//export sim_cuMemsetD32_v2
func sim_cuMemsetD32_v2(dst C.CUdeviceptr, v C.uint, n C.size_t) C.CUresult {
	return fill(nil, true, dst, 0, uint32(v), 4, n, 1)
}

//export sim_cuMemsetD2D8_v2
func sim_cuMemsetD2D8_v2(dst C.CUdeviceptr, pitch C.size_t, v C.uchar, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, uint32(v), 1, width, height)
}

//export sim_cuMemsetD2D16_v2
func sim_cuMemsetD2D16_v2(dst C.CUdeviceptr, pitch C.size_t, v C.ushort, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, uint32(v), 2, width, height)
}

//export sim_cuMemsetD2D32_v2
func sim_cuMemsetD2D32_v2(dst C.CUdeviceptr, pitch C.size_t, v C.uint, width, height C.size_t) C.CUresult {
	return fill(nil, true, dst, pitch, uint32(v), 4, width, height)
}

//export sim_cuMemsetD8Async
func sim_cuMemsetD8Async(dst C.CUdeviceptr, v C.uchar, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, uint32(v), 1, n, 1)
}

//export sim_cuMemsetD16Async
func sim_cuMemsetD16Async(dst C.CUdeviceptr, v C.ushort, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, uint32(v), 2, n, 1)
}

//export sim_cuMemsetD32Async
func sim_cuMemsetD32Async(dst C.CUdeviceptr, v C.uint, n C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, 0, uint32(v), 4, n, 1)
}

//export sim_cuMemsetD2D8Async
func sim_cuMemsetD2D8Async(dst C.CUdeviceptr, pitch C.size_t, v C.uchar, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, uint32(v), 1, width, height)
}

//export sim_cuMemsetD2D16Async
func sim_cuMemsetD2D16Async(dst C.CUdeviceptr, pitch C.size_t, v C.ushort, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, uint32(v), 2, width, height)
}

//export sim_cuMemsetD2D32Async
func sim_cuMemsetD2D32Async(dst C.CUdeviceptr, pitch C.size_t, v C.uint, width, height C.size_t, h C.CUstream) C.CUresult {
	return fill(h, false, dst, pitch, uint32(v), 4, width, height)
}
