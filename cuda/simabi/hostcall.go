//go:build cuda

package simabi

// #include "hostthread.h"
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Functions of the program run in threads of the driver, which they may end, when a thread waits for the device or
// calls it, or, while none does, as watch says. All threads may call the driver meanwhile. A call
// that waits for work behind the function waits for the function; one that waits for other work,
// for a second at most; a query waits for a moment and answers CUDA_ERROR_NOT_READY. A function
// that calls the driver is answered CUDA_ERROR_NOT_PERMITTED.

//export sim_cuLaunchHostFunc
func sim_cuLaunchHostFunc(h C.CUstream, fn C.CUhostFn, data unsafe.Pointer) C.CUresult {
	return inStream(h, func(s *stream) error {
		if fn == nil {
			return invalidValue
		}
		if s.capture.Capturing() {
			return s.add(&hostNode{C.CUDA_HOST_NODE_PARAMS_v1{fn: fn, userData: data}})
		}
		return s.submit(&device.HostCall{Func: func() error { C.simabi_call_host(fn, data); return nil }})
	})
}

// A callback is made even when something has failed before, and is told what.
//
//export sim_cuStreamAddCallback
func sim_cuStreamAddCallback(h C.CUstream, fn C.CUstreamCallback, data unsafe.Pointer, flags C.uint) C.CUresult {
	return inStream(h, func(s *stream) error {
		if fn == nil || flags != 0 {
			return invalidValue
		}
		if err := s.capture.Refuse(); err != nil {
			return err
		}
		return s.submit(&sim.Callback{Func: func(failed error) {
			C.simabi_call_back(fn, h, C.CUresult(device.CodeOf(failed)), data)
		}})
	})
}
