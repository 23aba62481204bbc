//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The driver's documentation ("API synchronization behavior") defines which calls wait:
//
//	destination       source            cuMemcpy…                    cuMemcpy…Async
//	device            device            returns at once              returns at once
//	device            pinned            waits for the copy           returns at once
//	device            pageable          waits for the copy           reads the source, then returns
//	pinned            any               waits for the copy           returns at once (pageable source: reads it first)
//	pageable          any               waits for the copy           waits for the copy
//
// Pageable memory is host memory that is not of the driver. Managed memory counts as pinned. All copies, also of one
// dimension, are copies of a box:
//
//	cuMemcpyHtoD ─► copyNow ──┐
//	cuMemcpyDtoHAsync ─► copySoon ┼─► copyBox ─► boxCopy ─► sim.Transfer ─► stream.copyNow or stream.copySoon
//	cuMemcpy3D ─► copy3D ─────┘       │
//	                                  └─► memcpyNode, if the stream is captured
//
// A side may be an address whose kind is unknown (CU_MEMORYTYPE_UNIFIED). anyPlace determines it: an address in a
// block, in a variable of a module or in a reservation is memory of the driver, all others are host memory.

// place is the start of one side of a copy.
type place struct {
	at   device.Ptr     // memory of the driver
	host unsafe.Pointer // or other memory of the host
}

// devicePlace returns a side that must be memory of the driver.
func devicePlace(p C.CUdeviceptr) place { return place{at: device.Ptr(p)} }

// anyPlace returns a side whose kind follows from the address.
func anyPlace(p C.CUdeviceptr) place {
	at := device.Ptr(p)
	if _, _, ok := driver.system.Range(at); ok || driver.system.Holds(at) {
		return place{at: at}
	}
	return place{host: *(*unsafe.Pointer)(unsafe.Pointer(&p))} // an address of the program, as a number
}

// hostPlace returns a side that must be host memory.
func hostPlace(p unsafe.Pointer) (place, error) {
	w := anyPlace(C.CUdeviceptr(uintptr(p)))
	if w.at != 0 && !blocks.at(C.CUdeviceptr(w.at)).onHost() {
		return w, invalidValue
	}
	return w, nil
}

// onHost reports whether the place is in host memory.
func (p place) onHost() bool { return p.host != nil || blocks.at(C.CUdeviceptr(p.at)).onHost() }

// region returns the place as a side of a copy of n bytes.
func (p place) region(n, pitch, slice int64) (sim.Region, error) {
	r := sim.Region{At: p.at, Pitch: pitch, Slice: slice}
	switch {
	case p.at != 0:
	case p.host == nil:
		return r, invalidValue
	default:
		var err error
		if r.Host, err = bytesAt(p.host, C.size_t(n)); err != nil {
			return r, err
		}
	}
	return r, nil
}

// copyNow enqueues a copy of a synchronous call, and waits for it if one side is host memory.
func (s *stream) copyNow(t *sim.Transfer) error {
	if err := captures.Unsafe(&driver.caller.capture); err != nil {
		return err
	}
	t.Own = true
	if err := s.submit(t); err != nil {
		return err
	}
	if onHost(&t.Dst) || onHost(&t.Src) {
		return s.context.sim.Synchronize(s.sim)
	}
	return nil
}

// copySoon enqueues a copy of an Async call. It waits for the copy if the destination is pageable. A pageable source is
// staged: its bytes are read before the call returns.
func (s *stream) copySoon(t *sim.Transfer) error {
	if t.Dst.Host != nil {
		if err := s.submit(t); err != nil {
			return err
		}
		return s.context.sim.Synchronize(s.sim)
	}
	t.Staged = true
	return s.submit(t)
}

// onHost reports whether a side of a copy is host memory, pageable or of the driver.
func onHost(r *sim.Region) bool { return r.Host != nil || blocks.at(C.CUdeviceptr(r.At)).onHost() }

// copyNow and copySoon copy n bytes, for the functions below.
func copyNow(dst, src *boxSide, n C.size_t) C.CUresult { return copyBox(nil, true, dst, src, n, 1, 1) }

func copySoon(dst, src *boxSide, n C.size_t, h C.CUstream) C.CUresult {
	return copyBox(h, false, dst, src, n, 1, 1)
}

//export sim_cuMemcpy
func sim_cuMemcpy(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyNow(unifiedSide(dst), unifiedSide(src), n)
}

//export sim_cuMemcpyAsync
func sim_cuMemcpyAsync(dst, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(unifiedSide(dst), unifiedSide(src), n, h)
}

//export sim_cuMemcpyHtoD_v2
func sim_cuMemcpyHtoD_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t) C.CUresult {
	return copyNow(deviceSide(dst), hostSide(src), n)
}

//export sim_cuMemcpyHtoDAsync_v2
func sim_cuMemcpyHtoDAsync_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(deviceSide(dst), hostSide(src), n, h)
}

//export sim_cuMemcpyDtoH_v2
func sim_cuMemcpyDtoH_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyNow(hostSide(dst), deviceSide(src), n)
}

//export sim_cuMemcpyDtoHAsync_v2
func sim_cuMemcpyDtoHAsync_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(hostSide(dst), deviceSide(src), n, h)
}

//export sim_cuMemcpyDtoD_v2
func sim_cuMemcpyDtoD_v2(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyNow(deviceSide(dst), deviceSide(src), n)
}

//export sim_cuMemcpyDtoDAsync_v2
func sim_cuMemcpyDtoDAsync_v2(dst, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(deviceSide(dst), deviceSide(src), n, h)
}

//export sim_cuMemcpyHtoA_v2
func sim_cuMemcpyHtoA_v2(dst C.CUarray, off C.size_t, src unsafe.Pointer, n C.size_t) C.CUresult {
	return copyNow(arraySide(dst, off), hostSide(src), n)
}

//export sim_cuMemcpyHtoAAsync_v2
func sim_cuMemcpyHtoAAsync_v2(dst C.CUarray, off C.size_t, src unsafe.Pointer, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(arraySide(dst, off), hostSide(src), n, h)
}

//export sim_cuMemcpyAtoH_v2
func sim_cuMemcpyAtoH_v2(dst unsafe.Pointer, src C.CUarray, off, n C.size_t) C.CUresult {
	return copyNow(hostSide(dst), arraySide(src, off), n)
}

//export sim_cuMemcpyAtoHAsync_v2
func sim_cuMemcpyAtoHAsync_v2(dst unsafe.Pointer, src C.CUarray, off, n C.size_t, h C.CUstream) C.CUresult {
	return copySoon(hostSide(dst), arraySide(src, off), n, h)
}

//export sim_cuMemcpyDtoA_v2
func sim_cuMemcpyDtoA_v2(dst C.CUarray, off C.size_t, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyNow(arraySide(dst, off), deviceSide(src), n)
}

//export sim_cuMemcpyAtoD_v2
func sim_cuMemcpyAtoD_v2(dst C.CUdeviceptr, src C.CUarray, off, n C.size_t) C.CUresult {
	return copyNow(deviceSide(dst), arraySide(src, off), n)
}

//export sim_cuMemcpyAtoA_v2
func sim_cuMemcpyAtoA_v2(dst C.CUarray, to C.size_t, src C.CUarray, from, n C.size_t) C.CUresult {
	return copyNow(arraySide(dst, to), arraySide(src, from), n)
}
