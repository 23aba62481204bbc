//go:build cuda && cgo

package simabi

// #include "errors.h"
// #include "thread.h"
import "C"

import (
	"errors"
	"fmt"
)

// explainCode writes to standard error which function returned a code, its meaning
// there, and the remedy. All codes other than success pass here or through
// simabi_missing, with two exceptions: cuInit without a GPU, which is always
// explained, and the codes that errors.c explains, of its own functions and in a
// child of fork.
func explainCode(code C.CUresult, err error) {
	if verbose() {
		explain(explanation(code, err))
	}
}

// explanation is one sentence: function, code, reason.
func explanation(code C.CUresult, err error) error {
	return fmt.Errorf("%s: %s (%d): %s", callingFunction(), codeName(code), int(code), reason(code, err))
}

// codeName returns the name of a code in cuda.h.
func codeName(code C.CUresult) string {
	var name *C.char
	if C.sim_cuGetErrorName(code, &name) != C.CUDA_SUCCESS {
		return "an error"
	}
	return C.GoString(name)
}

// refused is result for a function that does not hold the driver's lock.
func refused(s status) C.CUresult {
	explainCode(C.CUresult(s), s)
	return C.CUresult(s)
}

// callingFunction returns the name of the driver function as the program called it.
func callingFunction() string {
	if name := C.simabi_calling(); name != nil {
		return C.GoString(name)
	}
	return "a call"
}

// reason returns the text of an error. If the error is only a code, it returns the
// code's meaning and the remedy.
func reason(code C.CUresult, err error) string {
	if s := status(0); !errors.As(err, &s) || err.Error() != s.Error() {
		return err.Error()
	}
	if r, ok := reasons[code]; ok {
		return r
	}
	return "the state of an object in the call does not permit it: see the function in the reference of the CUDA driver API"
}

// reasons are the rules behind codes that functions return without a text, and the
// remedies.
var reasons = map[C.CUresult]string{
	C.CUDA_ERROR_INVALID_VALUE:                  "an argument is a null pointer, out of range, not a valid constant, or not the start of live memory: compare each argument with the reference of the function",
	C.CUDA_ERROR_OUT_OF_MEMORY:                  "the GPU or the host has too little free memory: request less, or free some; cuMemGetInfo returns the free bytes",
	C.CUDA_ERROR_NOT_INITIALIZED:                "cuInit has not been called: call it first",
	C.CUDA_ERROR_NO_DEVICE:                      "REPRISE_SIM names no GPU: set it to a profile, such as h200",
	C.CUDA_ERROR_INVALID_DEVICE:                 "no GPU has that ordinal, or the context is of another GPU: use an ordinal below the result of cuDeviceGetCount",
	C.CUDA_ERROR_INVALID_IMAGE:                  "the image is neither PTX nor a fatbin, object or archive with PTX: compile the kernel to PTX",
	C.CUDA_ERROR_INVALID_CONTEXT:                "no context is current, or the handle is not that of a context that can be used here: make a context current with cuCtxSetCurrent",
	C.CUDA_ERROR_NO_BINARY_FOR_GPU:              "the image has no PTX for this GPU, and machine code does not run here: compile with PTX (nvcc -gencode arch=compute_XX,code=compute_XX)",
	C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:        "the PTX version is newer than 8.4, the newest of CUDA 12.4: compile it with an older toolkit",
	C.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY:      "a context with a share of the multiprocessors requires the multi-process service: create the context without affinity",
	C.CUDA_ERROR_UNSUPPORTED_LIMIT:              "the GPU does not have this limit: do not set it",
	C.CUDA_ERROR_FILE_NOT_FOUND:                 "the file cannot be read: check its path",
	C.CUDA_ERROR_OPERATING_SYSTEM:               "the file cannot be written: check its path",
	C.CUDA_ERROR_INVALID_HANDLE:                 "a handle is unknown, destroyed, of another kind, or of another context: pass a live handle of the current context",
	C.CUDA_ERROR_NOT_FOUND:                      "no object has that name or address: check the name, including its C++ mangling",
	C.CUDA_ERROR_NOT_READY:                      "the work has not ended: wait for it, or query again later",
	C.CUDA_ERROR_CONTEXT_IS_DESTROYED:           "the context was destroyed, or the primary context was released or reset: retain or create a context",
	C.CUDA_ERROR_NOT_PERMITTED:                  "the call is not permitted here: do not call the driver in a host function or callback, and free an object that belongs to another with its owner",
	C.CUDA_ERROR_NOT_SUPPORTED:                  "the simulator or the GPU does not have this feature: docs/DRIVER.md lists the supported functions",
	C.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:        "the two GPUs cannot access each other's memory: copy with cuMemcpyPeer",
	C.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:    "access is already enabled: enable it once",
	C.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:        "access was not enabled: call cuCtxEnablePeerAccess first",
	C.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: "some of the memory is already registered: register it once",
	C.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:     "the memory is not registered: pass the address that was passed to cuMemHostRegister",
	C.CUDA_ERROR_MAP_FAILED:                     "the memory cannot be mapped into the process: free some of its addresses",
	C.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:      "the graph differs from the instantiated one in more than parameters: instantiate it again",
}
