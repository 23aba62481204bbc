package tracer

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/huge"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/internal/parallel"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Mode says whether traced calls also run.
type Mode uint8

const (
	Eager    Mode = iota // run every call now and record it too
	Deferred             // record only: nothing runs before a replay
	Direct               // run every call now and record none: the trace has buffers and no operations
)

// Tracer records one program. Only one goroutine may use it at a time. The first error makes all later calls do nothing;
// Finish and Err return it.
type Tracer struct {
	// A recorded call is a pair of numbers in calls. A launch refers to an element of made, which equal
	// launches share; any other call refers to an element of others:
	//
	//	calls    0    1    0    1   ^0   ...        in program order
	//	         │    │             │
	//	made  [ launch a, launch b ]│               different launches, with their accesses
	//	others                  [ copy ]            copies, fills, host calls, loops, ...
	//
	// Finish expands the pairs into the operations of the graph.

	dev     device.Device
	mode    Mode
	manager device.Manager // dev, nil if it has no managed memory
	stream  device.Stream  // of calls that run; 0 in mode Deferred
	graph   *ir.Graph      // under construction; its Ops are empty until Finish
	err     error          // the first one: all later calls do nothing

	calls   *recording               // by OpID
	made    []made                   // different launches
	others  []ir.Op                  // calls that are no launches
	buffers []allocation             // by BufferID
	nominal device.Ptr               // nominal address of the next buffer without memory
	modules []*Module                // by ModuleID
	kernels []*Kernel                // by calls.Kernel.Number - 1
	params  map[string]Param         // by name
	hosts   map[ir.OpID]func() error // functions of host calls
	helpers map[string]bool          // functions that have called Helper, by name
	opaque  []ir.OpID                // launches that may touch any memory, ascending
	names   map[string]int           // by buffer name: number of times it was requested
	labels  map[callSite]string      // cache of label
	sites   sites

	// Memory of recorded launches.
	launches slab[ir.Launch]
	args     slab[ir.Arg]
	uses     slab[ir.Access]
	shapes   box.Table                 // those of the graph
	promises map[*ir.Launch][]ir.Range // slices of launches, by argument: see promise

	// Scratch memory for the launch being traced: its arguments, accesses and slices.
	values  []ir.Arg
	scratch []ir.Access
	sliced  []ir.Range

	replays *replays     // live replays of the trace
	places  []device.Ptr // addresses that At was called with: see memory.at

	// Calls of mode Direct, which are not recorded.
	sink   traced.Sink // receives them; nil for none
	hand   *calls.Call // memory for the next one
	issued ir.Launch   // memory for the launch being submitted

	ended func() // ends the task of the execution trace
}

// New starts a trace on dev. The name is that of the graph. If dev is nil, Err and Finish return an
// ir.ErrMissing.
func New(dev device.Device, name string, mode Mode) *Tracer {
	t := &Tracer{
		ended:  observe.Task(observe.Record),
		dev:    dev,
		mode:   mode,
		graph:  &ir.Graph{Name: name, Trace: newIdentity()},
		calls:  &recording{},
		params: map[string]Param{},
		hosts:  map[ir.OpID]func() error{},
		names:  map[string]int{},

		nominal: firstNominal,
		replays: &replays{},
		hand:    &calls.Call{},
	}
	if absent.Is(dev) {
		t.err = fmt.Errorf("trace %s: %w", name, absent.Nil("the device"))
		return t
	}
	t.manager, _ = dev.(device.Manager)
	if mode != Deferred {
		var err error
		if t.stream, err = dev.CreateStream(0); err != nil {
			t.err = fmt.Errorf("trace %s: %w", name, err)
		}
	}
	return t
}

// errNoTracer is the error of a nil Tracer, which records nothing.
var errNoTracer = absent.Nil("the tracer")

// Err returns the error that stopped the trace, or nil.
func (t *Tracer) Err() error {
	if t == nil {
		return errNoTracer
	}
	t.stopped()
	return t.err
}

// stopped reports whether the trace has an error. It makes a zero Tracer one without a device, so that
// methods need not handle a nil graph.
func (t *Tracer) stopped() bool {
	if t == nil {
		return true
	}
	if t.graph == nil {
		*t = *New(nil, "", Deferred)
	}
	return t.err != nil
}

// fail sets the error of the trace unless there is one. pc is the return address of the public call,
// whose line begins the message.
func (t *Tracer) fail(pc uintptr, format string, args ...any) {
	if t.err != nil {
		return
	}
	t.err = fmt.Errorf("%v: trace %s: %w", calls.PositionOf(pc), t.graph.Name, fmt.Errorf(format, args...))
}

// Helper marks the function that calls it as a helper. Operations and errors of a helper get the position
// of the line that called the helper, as with testing.T.Helper.
func (t *Tracer) Helper() {
	if t == nil {
		return
	}
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	if t.helpers == nil {
		t.helpers = map[string]bool{}
	}
	t.helpers[functionOf(pc[0])] = true
}

// callerPC returns the return address of the public method that calls it, or of the innermost caller
// above that is not a helper. It takes a fraction of the time of runtime.Caller, which resolves the line
// at once.
func (t *Tracer) callerPC() uintptr {
	if t == nil {
		return 0
	}
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	for skip := 4; t.helpers != nil && t.helpers[functionOf(pc[0])]; skip++ {
		if runtime.Callers(skip, pc[:]) == 0 {
			break
		}
	}
	return pc[0]
}

// record appends op.
func (t *Tracer) record(op ir.Op, pc uintptr) Op {
	op.Cost = -1
	t.others = append(t.others, op)
	return t.call(^int32(len(t.others)-1), pc)
}

// call appends a call, in the numbering of recordingBlock.what.
func (t *Tracer) call(what int32, pc uintptr) Op {
	t.calls.add(what, pc)
	return Op{t, t.calls, ir.OpID(t.calls.len() - 1)}
}

// collect expands the calls into the operations of the graph, in parallel, and drops the calls.
func (t *Tracer) collect() {
	if t.calls.len() == 0 {
		return
	}
	ops, positions := huge.Make[ir.Op](t.calls.len()), t.positions()
	parallel.Blocks(len(ops), 1024, func(first, end int) {
		var pos *ir.Position
		for i := first; i < end; i++ {
			if i == first || t.calls.pc(i) != t.calls.pc(i-1) { // calls of a loop often have one line
				pos = positions[t.calls.pc(i)]
			}
			t.expand(&ops[i], t.calls.what(i))
			ops[i].Pos = pos
		}
	})
	t.calls.annotate(ops)
	t.graph.Ops = ops
	t.calls, t.made, t.others = &recording{}, nil, nil
}

// expand sets op, which must be zero, to the operation of a call. It writes the nonzero fields only:
// operations are large, and a trace has one for each launch.
func (t *Tracer) expand(op *ir.Op, call int32) {
	if call < 0 {
		*op = t.others[^call]
		return
	}
	m := &t.made[call]
	op.Kind, op.Launch, op.Uses, op.Cost = ir.KindLaunch, m.launch, m.uses, -1
}

// verifyDistinct verifies the graph with every different operation once. That is enough: the rules about
// operations of a traced graph concern one at a time, and Op.After has checked its edges.
func (t *Tracer) verifyDistinct() error {
	g := *t.graph
	g.Ops = make([]ir.Op, len(t.made), len(t.made)+len(t.others))
	for m := range t.made {
		t.expand(&g.Ops[m], int32(m))
	}
	g.Ops = append(g.Ops, t.others...)
	return ir.Verify(&g)
}

// Synchronize waits for the work that has been issued, so that host code may read results. It records
// nothing.
func (t *Tracer) Synchronize() {
	if !t.stopped() {
		t.synchronize(t.callerPC())
	}
}

// synchronize is Synchronize for a call with return address pc.
func (t *Tracer) synchronize(pc uintptr) {
	if t.stopped() || t.mode == Deferred {
		return
	}
	var err error
	if t.sink != nil {
		t.hand = t.sink.Flush()
		err = t.sink.Wait()
	} else {
		err = t.dev.Synchronize(t.stream)
	}
	if err != nil {
		t.fail(pc, "%w", err)
	}
}

// settle submits the calls that the sink holds back. It is called before anything that can observe their
// effects. The error is that of the trace, which such a call may have set.
func (t *Tracer) settle() error {
	if t.sink == nil || errors.Is(t.err, errFinished) {
		return nil
	}
	t.hand = t.sink.Flush()
	return t.err
}

// Finish ends the trace. On success the Trace owns the buffers and modules; on failure they are freed.
// The error is that of Err, of the device, or a *ir.Violation.
func (t *Tracer) Finish() (*Trace, error) {
	if t == nil {
		return nil, errNoTracer
	}
	if t.stopped() && errors.Is(t.err, errFinished) {
		return nil, errFinished
	}
	defer t.ended()
	t.synchronize(t.callerPC())
	if err := t.cleanUp(); err != nil {
		t.err = device.Join(t.err, err)
	}
	t.shareTables(t.others)
	verified := t.verifyDistinct() == nil
	t.collect()
	t.widenOpaque()
	if t.err == nil && !verified {
		t.err = ir.Verify(t.graph) // again, so that the error has the ids of the operations in the program
	}
	published := *t.graph
	trace := &Trace{Graph: &published, t: t}
	if t.err != nil {
		return nil, device.Join(t.err, trace.Close())
	}
	t.err = errFinished
	return trace, nil
}

// cleanUp closes the sink, destroys the stream and frees the memory of temporaries. Buffers and modules
// stay.
func (t *Tracer) cleanUp() error {
	var errs []error
	if t.sink != nil {
		errs = append(errs, t.sink.Close())
	}
	if t.stream != 0 {
		errs = append(errs, t.dev.DestroyStream(t.stream))
		t.stream = 0
	}
	if t.mode != Deferred { // a temporary of a deferred trace has memory only if the program required it
		errs = append(errs, t.releaseLate())
	}
	return device.Join(errs...)
}

var errFinished = sentinel.New(sentinel.ErrClosed, "this trace is finished: start a new one to record more")
