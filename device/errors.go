package device

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// Code is the driver's result code.
type Code int

// Result codes that devices of this module return, with the driver's numbers.
const (
	InvalidValue         Code = 1
	OutOfMemory          Code = 2
	Deinitialized        Code = 4
	DeviceUnavailable    Code = 46
	NoDevice             Code = 100
	InvalidDevice        Code = 101
	ECCUncorrectable     Code = 214
	InvalidPTX           Code = 218
	UnsupportedPTX       Code = 222
	InvalidHandle        Code = 400
	NotFound             Code = 500
	NotReady             Code = 600
	IllegalAddress       Code = 700
	OutOfResources       Code = 701
	LaunchTimeout        Code = 702
	Assert               Code = 710
	IllegalInstruction   Code = 715
	MisalignedAddress    Code = 716
	LaunchFailed         Code = 719
	CooperativeTooLarge  Code = 720
	NotSupported         Code = 801
	GraphUpdateForbidden Code = 910
	Unknown              Code = 999
)

var codeNames = map[Code]string{
	InvalidValue:         "CUDA_ERROR_INVALID_VALUE",
	OutOfMemory:          "CUDA_ERROR_OUT_OF_MEMORY",
	Deinitialized:        "CUDA_ERROR_DEINITIALIZED",
	DeviceUnavailable:    "CUDA_ERROR_DEVICE_UNAVAILABLE",
	NoDevice:             "CUDA_ERROR_NO_DEVICE",
	InvalidDevice:        "CUDA_ERROR_INVALID_DEVICE",
	ECCUncorrectable:     "CUDA_ERROR_ECC_UNCORRECTABLE",
	InvalidPTX:           "CUDA_ERROR_INVALID_PTX",
	UnsupportedPTX:       "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	InvalidHandle:        "CUDA_ERROR_INVALID_HANDLE",
	NotFound:             "CUDA_ERROR_NOT_FOUND",
	NotReady:             "CUDA_ERROR_NOT_READY",
	IllegalAddress:       "CUDA_ERROR_ILLEGAL_ADDRESS",
	OutOfResources:       "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	LaunchTimeout:        "CUDA_ERROR_LAUNCH_TIMEOUT",
	Assert:               "CUDA_ERROR_ASSERT",
	IllegalInstruction:   "CUDA_ERROR_ILLEGAL_INSTRUCTION",
	MisalignedAddress:    "CUDA_ERROR_MISALIGNED_ADDRESS",
	LaunchFailed:         "CUDA_ERROR_LAUNCH_FAILED",
	CooperativeTooLarge:  "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	NotSupported:         "CUDA_ERROR_NOT_SUPPORTED",
	GraphUpdateForbidden: "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	Unknown:              "CUDA_ERROR_UNKNOWN",
}

func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("CUDA_ERROR(%d)", int(c))
}

// Sticky reports whether a device that has returned c returns it to every later call until Close: the context is
// corrupt or the device is lost.
func (c Code) Sticky() bool {
	switch c {
	case DeviceUnavailable, ECCUncorrectable, IllegalAddress, LaunchTimeout, Assert, IllegalInstruction, MisalignedAddress, LaunchFailed:
		return true
	}
	return false
}

// ErrUnavailable is in the error chain if this machine has no such device.
var ErrUnavailable = sentinel.ErrUnavailable

// Error is the error of a failed call, or of failed work reported by a later call.
type Error struct {
	Call   string // method of Device that failed, such as "LoadModule"
	Code   Code
	Detail string // the cause, with names and numbers
	Fault  *Fault // set when a kernel failed
	Err    error  // wrapped cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v (%d)", e.Call, e.Code, int(e.Code))
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Fault != nil {
		b.WriteString(": " + e.Fault.String())
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// In sets the method of Device that returns the error. A nil *Error becomes a nil error, so a check can end in
// "return check.In(call)".
func (e *Error) In(call string) error {
	if e == nil {
		return nil
	}
	e.Call = call
	return e
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether the code is of a kind of errors that package reprise exports, such as ErrOutOfMemory.
func (e *Error) Is(kind error) bool {
	switch e.Code {
	case OutOfMemory:
		return kind == sentinel.ErrOutOfMemory
	case Deinitialized:
		return kind == sentinel.ErrClosed
	case DeviceUnavailable, NoDevice, InvalidDevice:
		return kind == sentinel.ErrUnavailable
	case NotFound:
		return kind == sentinel.ErrUnknown
	case NotSupported:
		return kind == sentinel.ErrUnsupported
	}
	return false
}

// CodeOf returns the driver code in err's chain, or 0.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Join is errors.Join for errors of one device. Every call on a poisoned or closed device repeats the same error.
// Join keeps only the first occurrence of each.
func Join(errs ...error) error {
	var kept []error
	seen := map[any]bool{}
	for _, err := range errs {
		if key := poison(err); key != nil {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		kept = append(kept, err)
	}
	return errors.Join(kept...)
}

// poison returns a key of the error that later calls repeat: the fault, or else the sticky code. It is nil for other
// errors.
func poison(err error) any {
	var e *Error
	switch {
	case !errors.As(err, &e):
	case e.Fault != nil:
		return e.Fault
	case e.Code.Sticky(), e.Code == Deinitialized:
		return e.Code
	}
	return nil
}

// Fault describes where and why a kernel failed.
type Fault struct {
	Kernel  string
	Label   string // of the launch, or ""
	Block   [3]uint32
	Thread  [3]uint32
	File    string // PTX module
	Line    int    // line in the PTX module, 0 if no instruction caused the fault
	Source  string // "kernel.cu:12", if the PTX has line information
	Address uint64
	Reason  string // one sentence: "4-byte load of 0x7f…, 16 bytes past the end of the 4096-byte allocation at 0x7f…"
	Refused bool   // refused before any thread ran: Block and Thread are not set
}

func (f *Fault) String() string {
	label := ""
	if f.Label != "" && f.Label != f.Kernel {
		label = " (" + f.Label + ")"
	}
	s := "kernel " + f.Kernel + label
	if !f.Refused {
		s += fmt.Sprintf(", block (%d,%d,%d), thread (%d,%d,%d)",
			f.Block[0], f.Block[1], f.Block[2], f.Thread[0], f.Thread[1], f.Thread[2])
	}
	if f.Line > 0 {
		s += fmt.Sprintf(", %s:%d", f.File, f.Line)
	}
	if f.Source != "" {
		s += " (" + f.Source + ")"
	}
	return s + ": " + f.Reason
}
