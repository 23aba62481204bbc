//go:build cuda

package simabi

// #include "thread.h"
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

// Functions of the program run in the thread that finds out that it is their turn, by
// waiting for the device or asking it. Other threads may call the driver meanwhile;
// they wait when they would have to know what comes after the function. A function
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
		return s.submit(&device.HostCall{Func: func() { C.simabi_call_host(fn, data) }})
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
