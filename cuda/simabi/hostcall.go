//go:build cuda

package simabi

// #include "hostthread.h"
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Functions of the program run in threads of the driver, which they may end. They run when a thread waits for the device or
// calls it, and otherwise by watch. All threads may call the driver meanwhile. A call
// that waits for work after the function waits for the function; one that waits for other work
// waits for a second at most; a query waits briefly and returns CUDA_ERROR_NOT_READY. A function
// that calls the driver gets CUDA_ERROR_NOT_PERMITTED.

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

// A callback is called even after an error, whose code it receives.
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
