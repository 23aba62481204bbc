//go:build cuda && cgo

package simabi

/*
#cgo CFLAGS: -I${SRCDIR}/../include -Wno-deprecated-declarations
#include <cuda.h>
*/
import "C"

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Every exported function is one call of a wrapper with a body. The wrapper determines what the function requires and
// what may happen meanwhile:
//
//	wrapper           requires                  used for
//	call              cuInit                    most functions
//	attend            cuInit                    functions that are not the driver's, such as repriseLabel
//	inContext         a current context         functions that create objects
//	onNamed           a valid handle            functions of an object, which determines the context
//	withStream        a stream                  queries of a stream
//	inStream          a usable stream           functions that enqueue work, or wait
//	inContextUnsafe   as inContext, and no      functions that may wait for work, such as cuMemAlloc
//	onNamedUnsafe     capture prohibits it      functions that may wait for work, such as cuMemFree
//	edit              cuInit                    functions that change a graph; they take virtual time
//
// A body returns nil, a status, or an error of the device or of a package, which contains a code. Bodies hold the
// driver's lock, so no other synchronization is necessary in this package.

// driver is the state of the process. A call holds mu from its beginning to its
// end.
var driver struct {
	mu      sync.Mutex
	ready   bool        // after cuInit
	system  *sim.System // state shared by the GPUs
	gpus    []*gpu
	caller  *thread // the thread of the current call
	failure error   // the last error, if it contains more than its code

	calls    atomic.Uint64 // number of calls of driver functions, for repriseCalls
	attended uint64        // number of calls that passed attend; watch detects activity by it
	watched  bool          // the goroutine of watch runs
}

// status is a driver's result code as an error. It is never 0.
type status C.CUresult

func (s status) Error() string { return device.Code(s).String() }

// The most frequent codes.
const (
	invalidValue   = status(C.CUDA_ERROR_INVALID_VALUE)
	invalidContext = status(C.CUDA_ERROR_INVALID_CONTEXT)
	invalidHandle  = status(C.CUDA_ERROR_INVALID_HANDLE)
	notInitialized = status(C.CUDA_ERROR_NOT_INITIALIZED)
	notSupported   = status(C.CUDA_ERROR_NOT_SUPPORTED)
)

// call runs the body of a driver function for the calling thread. Every function
// with a _ptds or _ptsz variant must use it, even to fail: it records the variant.
func call(body func(*thread) error) C.CUresult {
	driver.calls.Add(1)
	return attend(body)
}

// attend is call for functions that are not part of the driver.
func attend(body func(*thread) error) C.CUresult {
	driver.mu.Lock()
	defer driver.mu.Unlock()
	t := current()
	driver.caller = t
	switch {
	case !driver.ready:
		return result(notInitialized)
	case t.inHost:
		return result(status(C.CUDA_ERROR_NOT_PERMITTED))
	}
	driver.attended++
	code := result(body(t))
	watchNotices()
	return code
}

// inContext is call for a function that needs a current context.
func inContext(body func(*context) error) C.CUresult {
	return call(func(t *thread) error {
		c, err := t.context()
		if err != nil {
			return err
		}
		return body(c)
	})
}

// onNamed is call for a function whose arguments determine the context: a handle or
// an address. The caller needs no current context. If the handle is not valid, it
// may have been destroyed with the current context.
func onNamed(body func(*thread) error) C.CUresult {
	return call(func(t *thread) error {
		err := body(t)
		if c := t.top(); c != nil && c.destroyed && errors.As(err, new(status)) {
			return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		}
		return err
	})
}

// result returns the driver's result code for an error: the code of a status or of a device.Error in its chain, or else
// CUDA_ERROR_UNKNOWN.
func result(err error) C.CUresult {
	if err == nil {
		return C.CUDA_SUCCESS
	}
	return codeOf(err)
}

// codeOf is result for an error that is not nil. It is a function of its own because it allocates, which successful
// calls must not. It stores errors with details for repriseLastError.
func codeOf(err error) C.CUresult {
	var s status
	var d *device.Error
	code := C.CUresult(C.CUDA_ERROR_UNKNOWN)
	switch {
	case errors.As(err, &s):
		driver.failure = nil
		code = C.CUresult(s)
	case errors.As(err, &d):
		driver.failure = err
		code = C.CUresult(d.Code)
		if d.Code == device.Deinitialized { // another thread has destroyed the context of the device
			code = C.CUDA_ERROR_CONTEXT_IS_DESTROYED
		}
	default:
		driver.failure = err
	}
	explainCode(code, err)
	return code
}
