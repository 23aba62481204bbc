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
	system  *sim.System // what the GPUs have in common
	gpus    []*gpu
	caller  *thread // whose call runs
	failure error   // the last, when it says more than its code

	calls    atomic.Uint64 // of driver functions
	attended uint64        // calls
	watched  bool          // by watch
}

// status is a driver's result code as an error; 0 is never one.
type status C.CUresult

func (s status) Error() string { return device.Code(s).String() }

// The codes that the functions here answer most.
const (
	invalidValue   = status(C.CUDA_ERROR_INVALID_VALUE)
	invalidContext = status(C.CUDA_ERROR_INVALID_CONTEXT)
	invalidHandle  = status(C.CUDA_ERROR_INVALID_HANDLE)
	notInitialized = status(C.CUDA_ERROR_NOT_INITIALIZED)
	notSupported   = status(C.CUDA_ERROR_NOT_SUPPORTED)
)

// call runs the body of a driver function on behalf of the calling thread. Every
// function with a _ptds or _ptsz variant must go through it, also to fail: it takes
// note of the variant.
func call(body func(*thread) error) C.CUresult {
	driver.calls.Add(1)
	return attend(body)
}

// attend is call for what is no function of the driver.
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

// onNamed is call for a function that is about something which its arguments name: a
// handle or an address has a context, and the caller needs no current one. What a name
// does not lead to any more may have ended with the current context.
func onNamed(body func(*thread) error) C.CUresult {
	return call(func(t *thread) error {
		err := body(t)
		if c := t.top(); c != nil && c.destroyed && errors.As(err, new(status)) {
			return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		}
		return err
	})
}

// result is what the driver answers for an error.
func result(err error) C.CUresult {
	if err == nil {
		return C.CUDA_SUCCESS
	}
	return codeOf(err)
}

// codeOf is apart from result since it allocates.
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
		if d.Code == device.Deinitialized { // the device of a context: another thread has destroyed it
			code = C.CUDA_ERROR_CONTEXT_IS_DESTROYED
		}
	default:
		driver.failure = err
	}
	explainCode(code, err)
	return code
}
