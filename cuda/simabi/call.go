//go:build cuda

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

// driver is the state of the process. A call holds mu from its beginning to its
// end.
var driver struct {
	mu      sync.Mutex
	ready   bool        // after cuInit
	system  *sim.System // state shared by the GPUs
	gpus    []*gpu
	caller  *thread // the thread of the current call
	failure error   // the last error, if it contains more than its code

	calls    atomic.Uint64 // of driver functions
	attended uint64        // calls
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

// result returns the driver's result code for an error.
func result(err error) C.CUresult {
	if err == nil {
		return C.CUDA_SUCCESS
	}
	return codeOf(err)
}

// codeOf is separate from result because it allocates.
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
