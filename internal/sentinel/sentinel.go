// Package sentinel defines the kinds of errors that programs handle. The public packages export them, and give each error a
// sentence of its own.
package sentinel

import (
	"errors"
	"fmt"
)

// Kinds of errors. Package reprise documents them.
var (
	ErrBusy        = errors.New("in use by another goroutine")
	ErrClosed      = errors.New("closed")
	ErrOutOfMemory = errors.New("out of memory")
	ErrOtherTrace  = errors.New("the plan is of another trace")
	ErrUnavailable = errors.New("device unavailable")
	ErrUnknown     = errors.New("unknown name")
	ErrUnsupported = errors.New("not supported by the device")
)

// New returns an error with this text and a kind in its chain.
func New(kind error, text string) error { return &classified{errors.New(text), kind} }

// Errorf returns the error of fmt.Errorf with a kind in its chain. The text does not contain that of the kind.
func Errorf(kind error, format string, args ...any) error {
	return &classified{fmt.Errorf(format, args...), kind}
}

// classified is an error of a kind.
type classified struct {
	error
	kind error
}

// Unwrap returns the error itself and its kind.
func (e *classified) Unwrap() []error { return []error{e.error, e.kind} }
