package traced

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// Watch starts a program in mode tracer.Direct whose calls go to the Sink that watch returns, and returns its
// *tracer.Tracer. Calls are checked, and errors name the line of the call, as without a Sink.
var Watch func(dev device.Device, name string, watch func(Runner) Sink) any

// SinkOf returns the Sink of a *tracer.Tracer from Watch, and nil for any other.
var SinkOf func(tracer any) Sink

// Sink receives the launches, copies, fills and prefetches of a program in mode Direct and decides when each of them
// runs. Package auto has one that replays what the program repeats.
type Sink interface {
	// Take receives a call and returns the memory for the next one, whose operands it may reuse.
	Take(c *calls.Call) (next *calls.Call)
	// Flush runs the calls that are held back. It is called before the program may see their results, before it
	// allocates or frees memory, and before host calls, which no Sink receives.
	Flush() (next *calls.Call)
	// Order is called before work is submitted to the stream of the program, which must begin when everything before it
	// has ended.
	Order() error
	// Wait waits for everything that was enqueued.
	Wait() error
	// Close ends the program, after Wait.
	Close() error
}

// Runner runs the calls that a Sink has received, each as if the program had no Sink.
type Runner interface {
	// Check stops the program if a call certainly leaves one of its slices, and reports whether it does not.
	Check(c *calls.Call) bool
	// Run submits a call to the stream of the program, and reports whether it did: not after an error.
	Run(c *calls.Call) bool
	// Excerpt records calls as a *tracer.Trace over the buffers and modules of the program, which must not be closed. Scalar
	// operands of kind ir.ArgParam become parameters.
	Excerpt(list []calls.Call) (trace any, err error)
	// Buffers are the buffers of the program so far.
	Buffers() []ir.Buffer
	// Stream is the stream that Run submits to.
	Stream() device.Stream
	// Fail stops the program with an error, which names the line of the call with return address pc unless that is 0.
	Fail(pc uintptr, err error)
}
