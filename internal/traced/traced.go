// Package traced is the part of package tracer that only this module uses. Package tracer sets the variables here; a
// *tracer.Tracer and a *tracer.Trace have the type any, because tracer imports this package.
package traced

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Trace is what graphexec uses of a finished trace besides its methods.
type Trace interface {
	// Attach adds live replays of the trace. The function at returns where they have a buffer, and 0 for a buffer that
	// they do not use or have in memory of their own. Until detach is called, Read, Write and Draft follow the replays.
	// After the last detach, the addresses of the last replays remain.
	Attach(at func(ir.BufferID) device.Ptr) (detach func(), err error)
	// Reach returns what a launch of a plan of the trace would access with another grid. A plan that was read from text
	// may have other launches than the trace, of kernels that the trace launches. Reach assumes nothing about slices: an
	// access is bounded by the kernel's code, its arguments and the end of the buffer.
	Reach(l *ir.Launch, grid ir.Dim3) ([]ir.Access, error)
	// Stays returns a tracer.SliceError if launch op of g, a plan of the trace, certainly accesses bytes outside a slice
	// that it is passed, with that grid and those values of parameters. If the plan was read from text and its launch is
	// not in the trace, its slices are the uses that the plan declares.
	Stays(g *ir.Graph, op ir.OpID, grid ir.Dim3, value func(ir.ParamID) ir.Scalar) error
}

// Open returns the Trace of a *tracer.Trace, and nil for any other value. It is nil if package tracer is not linked.
var Open func(any) Trace

// Of returns the Trace of bindings that are a *tracer.Trace, and nil for other bindings.
func Of(bindings any) Trace {
	if Open == nil {
		return nil
	}
	return Open(bindings)
}
