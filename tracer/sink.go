package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

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
	// Excerpt records calls as a trace over the buffers and modules of the program, which must not be closed. Scalar
	// operands of kind ir.ArgParam become parameters.
	Excerpt(list []calls.Call) (*Trace, error)
	// Buffers are the buffers of the program so far.
	Buffers() []ir.Buffer
	// Stream is the stream that Run submits to.
	Stream() device.Stream
	// Fail stops the program with an error, which names the line of the call with return address pc unless that is 0.
	Fail(pc uintptr, err error)
}

// NewWatched starts a program in mode Direct whose calls go to the Sink that watch returns. Calls are checked, and errors
// name the line of the call, as without a Sink.
func NewWatched(dev device.Device, name string, watch func(Runner) Sink) *Tracer {
	t := New(dev, name, Direct)
	var sink Sink
	if watch != nil {
		sink = watch(runner{t})
	}
	if absent.Is(sink) {
		t.err = device.Join(t.err, fmt.Errorf("trace %s: %w", name, absent.Nil("the Sink")), t.cleanUp())
		return t
	}
	t.sink, t.hand = sink, sink.Flush()
	return t
}

// Sink returns the Sink of a program from NewWatched, and nil for any other.
func (t *Tracer) Sink() Sink {
	if t == nil {
		return nil
	}
	return t.sink
}

// runner is the Runner of a program.
type runner struct{ t *Tracer }

func (r runner) Check(c *calls.Call) bool { return r.t.check(c) }

func (r runner) Run(c *calls.Call) bool {
	if r.t.err != nil {
		return false
	}
	r.t.issue(c)
	return true
}

func (r runner) Excerpt(list []calls.Call) (*Trace, error) { return r.t.excerpt(list) }
func (r runner) Buffers() []ir.Buffer                      { return r.t.graph.Buffers }
func (r runner) Stream() device.Stream                     { return r.t.stream }

func (r runner) Fail(pc uintptr, err error) {
	if pc == 0 {
		r.t.err = device.Join(r.t.err, err)
		return
	}
	r.t.fail(pc, "%w", err)
}
