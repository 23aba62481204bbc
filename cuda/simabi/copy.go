//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

// Copies follow the driver's table of which calls wait ("API synchronization
// behavior"): the plain ones return when the bytes have arrived, except between
// memory of devices; the Async ones return at once, except to pageable memory. What
// is copied from pageable memory is taken before the call returns.

// place is where one side of a copy begins.
type place struct {
	at   device.Ptr     // memory that the driver knows
	host unsafe.Pointer // or other memory of the host
}

// devicePlace is a side that must be memory the driver knows.
func devicePlace(p C.CUdeviceptr) place { return place{at: device.Ptr(p)} }

// anyPlace is a side of which the address says what it is.
func anyPlace(p C.CUdeviceptr) place {
	at := device.Ptr(p)
	if _, _, ok := driver.system.Range(at); ok || driver.system.Holds(at) {
		return place{at: at}
	}
	return place{host: *(*unsafe.Pointer)(unsafe.Pointer(&p))} // the program's own address, as a number
}

// hostPlace is a side that must be the host's.
func hostPlace(p unsafe.Pointer) (place, error) {
	w := anyPlace(C.CUdeviceptr(uintptr(p)))
	if w.at != 0 && !blocks.at(C.CUdeviceptr(w.at)).onHost() {
		return w, invalidValue
	}
	return w, nil
}

// onHost reports whether a copy to or from it concerns the host.
func (p place) onHost() bool { return p.host != nil || blocks.at(C.CUdeviceptr(p.at)).onHost() }

// region is the place as a side of a copy that spans n bytes.
func (p place) region(n, pitch, slice int64) (sim.Region, error) {
	r := sim.Region{At: p.at, Pitch: pitch, Slice: slice}
	switch {
	case p.at != 0:
	case p.host == nil:
		return r, invalidValue
	default:
		r.Host = bytesAt(p.host, n)
	}
	return r, nil
}

// extent is how many bytes, rows and slices a copy has.
type extent struct{ width, height, depth int64 }

func (e extent) empty() bool { return e.width == 0 || e.height == 0 || e.depth == 0 }

// linear is a copy of n bytes.
func linear(dst, src place, n int64) (*sim.Transfer, error) {
	to, err := dst.region(n, n, n)
	if err != nil {
		return nil, err
	}
	from, err := src.region(n, n, n)
	if err != nil {
		return nil, err
	}
	return &sim.Transfer{Dst: to, Src: from, Width: n, Height: 1, Depth: 1}, nil
}

// copyNow enqueues a copy and waits for it if one side is the host's.
func (s *stream) copyNow(t *sim.Transfer) error {
	if err := s.submit(t); err != nil {
		return err
	}
	if onHost(&t.Dst) || onHost(&t.Src) {
		return s.context.sim.Synchronize(s.sim)
	}
	return nil
}

// copySoon enqueues a copy, and waits for it if it has to.
func (s *stream) copySoon(t *sim.Transfer) error {
	if t.Dst.Host != nil {
		return s.copyNow(t)
	}
	if t.Src.Host != nil {
		t.Src.Host = slices.Clone(t.Src.Host)
	}
	return s.submit(t)
}

func onHost(r *sim.Region) bool { return r.Host != nil || blocks.at(C.CUdeviceptr(r.At)).onHost() }

// copyLinear is what the functions below do: sides gives the places, the stream is the
// caller's null stream when the call is to wait.
func copyLinear(h C.CUstream, wait bool, n C.size_t, sides func() (dst, src place, err error)) C.CUresult {
	return inStream(h, func(s *stream) error {
		if n == 0 {
			return s.context.sim.Err()
		}
		size, err := length(n)
		if err != nil {
			return err
		}
		dst, src, err := sides()
		if err != nil {
			return err
		}
		t, err := linear(dst, src, size)
		if err != nil {
			return err
		}
		if wait {
			return s.copyNow(t)
		}
		return s.copySoon(t)
	})
}

func unified(dst, src C.CUdeviceptr) func() (place, place, error) {
	return func() (place, place, error) { return anyPlace(dst), anyPlace(src), nil }
}

func toDevice(dst C.CUdeviceptr, src unsafe.Pointer) func() (place, place, error) {
	return func() (place, place, error) {
		from, err := hostPlace(src)
		return devicePlace(dst), from, err
	}
}

func toHost(dst unsafe.Pointer, src C.CUdeviceptr) func() (place, place, error) {
	return func() (place, place, error) {
		to, err := hostPlace(dst)
		return to, devicePlace(src), err
	}
}

func betweenDevices(dst, src C.CUdeviceptr) func() (place, place, error) {
	return func() (place, place, error) { return devicePlace(dst), devicePlace(src), nil }
}

//export sim_cuMemcpy
func sim_cuMemcpy(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyLinear(nil, true, n, unified(dst, src))
}

//export sim_cuMemcpyAsync
func sim_cuMemcpyAsync(dst, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copyLinear(h, false, n, unified(dst, src))
}

//export sim_cuMemcpyHtoD_v2
func sim_cuMemcpyHtoD_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t) C.CUresult {
	return copyLinear(nil, true, n, toDevice(dst, src))
}

//export sim_cuMemcpyHtoDAsync_v2
func sim_cuMemcpyHtoDAsync_v2(dst C.CUdeviceptr, src unsafe.Pointer, n C.size_t, h C.CUstream) C.CUresult {
	return copyLinear(h, false, n, toDevice(dst, src))
}

//export sim_cuMemcpyDtoH_v2
func sim_cuMemcpyDtoH_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyLinear(nil, true, n, toHost(dst, src))
}

//export sim_cuMemcpyDtoHAsync_v2
func sim_cuMemcpyDtoHAsync_v2(dst unsafe.Pointer, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copyLinear(h, false, n, toHost(dst, src))
}

//export sim_cuMemcpyDtoD_v2
func sim_cuMemcpyDtoD_v2(dst, src C.CUdeviceptr, n C.size_t) C.CUresult {
	return copyLinear(nil, true, n, betweenDevices(dst, src))
}

//export sim_cuMemcpyDtoDAsync_v2
func sim_cuMemcpyDtoDAsync_v2(dst, src C.CUdeviceptr, n C.size_t, h C.CUstream) C.CUresult {
	return copyLinear(h, false, n, betweenDevices(dst, src))
}

// settle waits for the work of other contexts that a copy between contexts must not
// overtake.
func (c *context) settle(others ...C.CUcontext) error {
	for _, h := range others {
		o, err := contextOf(h)
		switch {
		case err != nil:
			return err
		case o.destroyed:
			return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		case o == c:
			continue
		}
		if err := o.enter().sim.SynchronizeAll(); err != nil {
			return err
		}
	}
	c.enter()
	return nil
}

//export sim_cuMemcpyPeer
func sim_cuMemcpyPeer(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t) C.CUresult {
	return sim_cuMemcpyPeerAsync(dst, to, src, from, n, nil)
}

//export sim_cuMemcpyPeerAsync
func sim_cuMemcpyPeerAsync(dst C.CUdeviceptr, to C.CUcontext, src C.CUdeviceptr, from C.CUcontext, n C.size_t, h C.CUstream) C.CUresult {
	return copyLinear(h, false, n, func() (place, place, error) {
		c, err := driver.caller.context()
		if err == nil {
			err = c.settle(to, from)
		}
		return devicePlace(dst), devicePlace(src), err
	})
}
