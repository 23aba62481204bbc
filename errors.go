package reprise

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Kinds of errors, for errors.Is. Each error has a text of its own, which names the thing and the remedy. Errors of all
// packages of this module have one of these kinds in their chain if the kind applies. docs/ERRORS.md lists, for each kind,
// what causes it and what to do.
var (
	ErrBusy        = sentinel.ErrBusy        // two goroutines use an Exec at the same time
	ErrClosed      = sentinel.ErrClosed      // use of something after its Close, or of a Tracer after its Finish
	ErrElement     = tracer.ErrElement       // numbers of one type for a buffer of another
	ErrFreed       = device.ErrFreed         // use of memory that was freed
	ErrMissing     = ir.ErrMissing           // a required argument is nil or zero
	ErrOtherDevice = device.ErrOtherDevice   // a trace, a buffer or a module of another device
	ErrOtherTrace  = ir.ErrOtherTrace        // a plan, a buffer, a kernel or a parameter of another trace
	ErrOutOfMemory = sentinel.ErrOutOfMemory // does not fit into the memory of the device or the host
	ErrUnavailable = device.ErrUnavailable   // this machine has no such device
	ErrUnknown     = sentinel.ErrUnknown     // no kernel, buffer, parameter, operation, strategy, pass or device has this name
	ErrUnsupported = sentinel.ErrUnsupported // the device cannot do this
)
