// Package traced is the part of package tracer that only this module uses. Package tracer sets the variables here; a
// *tracer.Tracer and a *tracer.Trace have the type any, because tracer imports this package.
package traced

import (
	"errors"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Program is a recorded program that graphexec can replay and optimizer can measure: a *tracer.Trace. Tests of
// graphexec also replay Bindings of their own.
type Program interface {
	// Pointer returns the address of a buffer.
	Pointer(ir.BufferID) device.Ptr
	// Bind records that later replays access a buffer at another address.
	Bind(ir.BufferID, device.Ptr)
}

// Bindings maps the buffers, modules and host calls of a graph to those of a device.
type Bindings interface {
	Program
	// Check returns an error if a plan of graph g cannot be replayed with these bindings on dev, because they belong to
	// another device or another trace. dev may be a wrapper of the trace's device. The error wraps tracer.ErrClosed,
	// device.ErrOtherDevice, device.ErrFreed or ir.ErrOtherTrace.
	Check(dev device.Device, g *ir.Graph) error
	// Allocate allocates memory for a buffer that has none, which is the case for temporaries of a deferred trace.
	// Afterwards Pointer returns its address. The error wraps ir.ErrMissing, tracer.ErrClosed or that of the device.
	Allocate(ir.BufferID) error
	// Module returns the handle of a loaded module. It is 0 for an id that is not of the trace.
	Module(ir.ModuleID) device.Module
	// HostFunc returns the function of a host call, by its number in the trace, and nil for any other operation.
	HostFunc(ir.OpID) func() error
}

// Trace is what graphexec and optimizer use of a finished trace besides its exported methods.
type Trace interface {
	Bindings
	// Recorded returns the recorded graph, and nil for a nil or zero trace.
	Recorded() *ir.Graph
	// Rehearse calls f with a function that runs the operations of the trace, one after another in program order, and
	// waits for them. f may call it several times. Afterwards the memory of the program is what it was before, that of
	// buffers on the host and of variables of modules included. Host functions are not called. The kernels find in
	// their inputs what the program has written there so far. The error wraps device.ErrOtherDevice unless dev, a
	// device.Device, is the device of the trace, or a wrapper of it.
	Rehearse(dev any, f func(run func() error) error) error
	// Unwritten returns the name of a buffer from which a replay would read bytes that neither tracer.Write nor the
	// program itself has written, and "" if there is none.
	Unwritten() string
	// Attach adds live replays of the trace. The function at returns where they have a buffer, and 0 for a buffer that
	// they do not use or have in memory of their own. Until detach is called, Read, Write and Draft follow the replays.
	// After the last detach, the addresses of the last replays remain.
	Attach(at func(ir.BufferID) device.Ptr) (detach func(), err error)
	// Reach returns what a launch of a plan of the trace would access with another grid. A plan that was read from text
	// may have other launches than the trace, of kernels that the trace launches. Reach assumes nothing about slices: an
	// access is bounded by the kernel's code, its arguments and the end of the buffer. The shapes of the accesses are
	// numbered as in a graph with the given Shapes.
	Reach(l *ir.Launch, grid ir.Dim3) ([]ir.Access, []ir.Shape, error)
	// Stays returns a tracer.SliceError if launch op of g, a plan of the trace, certainly accesses bytes outside a slice
	// that it is passed, with that grid and those values of parameters. If the plan was read from text and its launch is
	// not in the trace, its slices are the uses that the plan declares.
	Stays(g *ir.Graph, op ir.OpID, grid ir.Dim3, value func(ir.ParamID) ir.Scalar) error
}

// Open returns the Trace of a *tracer.Trace, and nil for any other value. It is nil if package tracer is not linked.
var Open func(Program) Trace

// Of returns the Trace of a *tracer.Trace, and nil for other programs. The Trace of a Trace is itself.
func Of(p Program) Trace {
	if t, ok := p.(Trace); ok || Open == nil {
		return t
	}
	return Open(p)
}

// Load allocates the buffers of a saved program, loads its modules, writes the contents that the file has, and returns a
// *tracer.Trace of it.
var Load func(dev device.Device, f *ir.File) (trace any, err error)

// FileOf returns a *tracer.Trace as a file with the present contents of its buffers.
var FileOf func(trace Program) (*ir.File, error)

// Allocate gives a tracer.Buffer memory now if it has none, as temporaries have until they need it.
var Allocate func(buffer any)

// Owns reports whether a tracer.Buffer is a range of an allocation of a *tracer.Tracer, freed or not.
var Owns func(tracer, buffer any) bool

// ErrForeign is the error for a Program that is not a *tracer.Trace.
var ErrForeign = errors.New("the program is not a *tracer.Trace: pass what Finish returns")

// BindingsOf returns the bindings of a program, and nil if it has none.
func BindingsOf(p Program) Bindings {
	if b, ok := p.(Bindings); ok {
		return b
	}
	if t := Of(p); t != nil {
		return t
	}
	return nil
}

// Origin returns the id that operation v of g had in the trace that g was made from.
func Origin(g *ir.Graph, v ir.OpID) ir.OpID {
	if g.Origin == nil {
		return v
	}
	return g.Origin[v]
}
