//go:build cuda

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
	return "the state of the thing that the call names does not allow it: see the function in the CUDA driver API's reference"
}

// reasons are the rules behind codes that functions return without a text, and the
// remedies.
var reasons = map[C.CUresult]string{
	C.CUDA_ERROR_INVALID_VALUE:                  "an argument is a null pointer, out of its range, not one of its values, or not the start of live memory: compare each argument with the function's description",
	C.CUDA_ERROR_OUT_OF_MEMORY:                  "the GPU or the host has no such amount of memory free: ask for less, or free some; cuMemGetInfo returns how much there is",
	C.CUDA_ERROR_NOT_INITIALIZED:                "cuInit has not been called: call it first",
	C.CUDA_ERROR_NO_DEVICE:                      "REPRISE_SIM names no GPU: set it to a profile, such as h200",
	C.CUDA_ERROR_INVALID_DEVICE:                 "there is no GPU of that ordinal, or the GPU of a context is another one: cuDeviceGetCount returns how many there are",
	C.CUDA_ERROR_INVALID_IMAGE:                  "the image is neither PTX nor a fatbin, object or archive with PTX: compile the kernel to PTX",
	C.CUDA_ERROR_INVALID_CONTEXT:                "no context is current, or the handle names none that may be used so: make one current with cuCtxSetCurrent",
	C.CUDA_ERROR_NO_BINARY_FOR_GPU:              "the image has no PTX for this GPU, and machine code does not run here: compile with PTX (nvcc -gencode arch=compute_XX,code=compute_XX)",
	C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:        "the PTX is of a newer version than CUDA 12.4 reads, 8.4: compile it with an older toolkit",
	C.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY:      "contexts with a share of the multiprocessors are for the multi-process service: create the context without affinity",
	C.CUDA_ERROR_UNSUPPORTED_LIMIT:              "the GPU has no such limit: leave it out",
	C.CUDA_ERROR_FILE_NOT_FOUND:                 "the file cannot be read: check its path",
	C.CUDA_ERROR_OPERATING_SYSTEM:               "the file cannot be written: check its path",
	C.CUDA_ERROR_INVALID_HANDLE:                 "a handle was never given out, was destroyed, is of another kind or belongs to another context: pass one of the current context",
	C.CUDA_ERROR_NOT_FOUND:                      "there is nothing of that name or at that address: check the name, with its C++ mangling",
	C.CUDA_ERROR_NOT_READY:                      "the work has not ended: wait for it, or ask again later",
	C.CUDA_ERROR_CONTEXT_IS_DESTROYED:           "the context was destroyed, or the primary context released or reset: retain or create one",
	C.CUDA_ERROR_NOT_PERMITTED:                  "the call is not allowed here: a host function or callback must not call the driver, and what belongs to another is not freed on its own",
	C.CUDA_ERROR_NOT_SUPPORTED:                  "the simulator, or the GPU, has no such feature: docs/DRIVER.md lists what it has",
	C.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:        "the two GPUs cannot access each other's memory: copy with cuMemcpyPeer",
	C.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:    "access is enabled already: enable it once",
	C.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:        "access was not enabled: call cuCtxEnablePeerAccess first",
	C.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: "some of the memory is registered already: register it once",
	C.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:     "the memory is not registered: pass the address that was given to cuMemHostRegister",
	C.CUDA_ERROR_MAP_FAILED:                     "the memory cannot be mapped into the process: leave more of its addresses free",
	C.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:      "the graph differs from the instantiated one in more than parameters: instantiate it anew",
}
