package device

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// HostCall runs a Go function on the host when the stream reaches it. The
// function must not call the device. Where it returns an error, panics or ends its goroutine, the next call that waits
// for the work answers Unknown with a HostError, once; the device goes on with the work behind it and stays usable.
type HostCall struct {
	Func  func() error
	Label string
	// Uses is the pinned memory the function touches, for a device that checks
	// whether other work does so at the same time.
	Uses []HostUse
}

// HostUse is a range of pinned memory that a host call reads, writes or both.
type HostUse struct {
	Ptr         Ptr
	Bytes       int64
	Read, Write bool
}

// HostError says that the function of a host call returned an error or panicked.
type HostError struct {
	Label string // of the host call: in a replay the operation, with the source line that issued it
	Err   error  // that it returned, or panicked with; nil for a panic with something else; it says so where the function ended its goroutine
	Panic any    // nil where it returned
	Stack []byte // of the panic, as runtime/debug.Stack has it
}

func (e *HostError) Error() string {
	if e.Panic != nil {
		return fmt.Sprintf("host call %q panicked: %v", e.Label, e.Panic)
	}
	return fmt.Sprintf("host call %q: %v", e.Label, e.Err)
}

func (e *HostError) Unwrap() error { return e.Err }

var errExited = errors.New("the function ended its goroutine, as runtime.Goexit and the FailNow of a test do, instead of returning")

// Run calls the function, for a device, on a goroutine of its own: where the function ends its goroutine, the caller's goes
// on. It returns what a call that waits is to answer: nil, or an Error without its Call.
func (h *HostCall) Run() (failed *Error) {
	failed = h.failed(&HostError{Err: errExited})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed = h.call()
	}()
	<-ended
	return failed
}

// call makes an error of a panic.
func (h *HostCall) call() (failed *Error) {
	defer func() {
		if v := recover(); v != nil {
			err, _ := v.(error)
			failed = h.failed(&HostError{Panic: v, Err: err, Stack: debug.Stack()})
		}
	}()
	if err := h.Func(); err != nil {
		return h.failed(&HostError{Err: err})
	}
	return nil
}

func (h *HostCall) failed(e *HostError) *Error {
	e.Label = h.Label
	return &Error{Code: Unknown, Err: e}
}
