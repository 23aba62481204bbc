package contract

import (
	"errors"
	"runtime/debug"

	"github.com/reprise-gpu/reprise/device"
)

var errExited = errors.New("the function ended its goroutine, as runtime.Goexit and the FailNow of a test do, instead of returning")

// RunHostCall calls the function of h, which CheckWork has passed, on a new goroutine, so that the goroutine of the
// device survives runtime.Goexit. It returns the error for the next call that waits, with an empty Call, or nil.
func RunHostCall(h *device.HostCall) (failed *device.Error) {
	failed = hostError(h, &device.HostError{Err: errExited})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed = call(h)
	}()
	<-ended
	return failed
}

// call calls the function and converts a panic to an error.
func call(h *device.HostCall) (failed *device.Error) {
	defer func() {
		if v := recover(); v != nil {
			err, _ := v.(error)
			failed = hostError(h, &device.HostError{Panic: v, Err: err, Stack: debug.Stack()})
		}
	}()
	if err := h.Func(); err != nil {
		return hostError(h, &device.HostError{Err: err})
	}
	return nil
}

func hostError(h *device.HostCall, e *device.HostError) *device.Error {
	e.Label = h.Label
	return &device.Error{Code: device.Unknown, Err: e}
}
