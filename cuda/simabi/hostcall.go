//go:build cuda && cgo

package simabi

// #include "hostthread.h"
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Functions of the program (host functions and callbacks) run in threads of their own (hostthread.c), because a
// function may end its thread. A function starts when virtual time reaches it: during a call that waits for the
// device, or by watch. All threads may call the driver meanwhile:
//
//	call of another thread                     while a function runs
//	waits for work after the function          waits for the function
//	waits for other work                       waits for a second at most
//	query                                      waits briefly, then returns CUDA_ERROR_NOT_READY
//
// A function that calls the driver gets CUDA_ERROR_NOT_PERMITTED.

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
