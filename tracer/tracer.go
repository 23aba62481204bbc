package tracer

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/huge"
	"github.com/reprise-gpu/reprise/internal/parallel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Mode says whether traced calls also run.
type Mode uint8

const (
	Eager    Mode = iota // run every call now and record it too
	Deferred             // record only; Replay is the first to run anything
	Direct               // run every call now and record none: the trace has buffers, and no operations
)

// Tracer records one program. It is used by one goroutine at a time.
type Tracer struct {
	dev     device.Device
	mode    Mode
	manager device.Manager // the device, nil when it has no managed memory
	stream  device.Stream  // of calls that run
	graph   *ir.Graph
	err     error

	calls   recording        // by operation
	made    []made           // launches that differ
	others  []ir.Op          // all but launches
	buffers []allocation     // by BufferID
	nominal device.Ptr       // of the next buffer without memory
	modules []*Module        // by ModuleID
	kernels []*Kernel        // by calls.Kernel.Number, from 1
	params  map[string]Param // by name
	hosts   map[ir.OpID]func() error
	helpers map[string]bool // by function
	opaque  []ir.OpID       // launches that may touch anything
	names   map[string]int  // how often a buffer name was asked for
	labels  map[callSite]string
	sites   sites

	launches slab[ir.Launch]
	args     slab[ir.Arg]
	uses     slab[ir.Access]
	promises map[*ir.Launch][]ir.Range // slices of launches, by argument: see promise
	values   []ir.Arg                  // arguments of the launch being traced
	scratch  []ir.Access               // its uses
	sliced   []ir.Range                // its slices
	replays  *replays                  // of the trace
	places   []device.Ptr              // of buffers: see Buffer.At
	sink     traced.Sink               // that receives calls; nil for none
	hand     *calls.Call               // memory for the next call that is not recorded
	issued   ir.Launch                 // that is submitted and not recorded
}

// New starts a trace on dev. Without a device nothing can be traced, which Err and Finish return as an ir.ErrMissing.
func New(dev device.Device, name string, mode Mode) *Tracer {
	t := &Tracer{
		dev:    dev,
		mode:   mode,
		graph:  &ir.Graph{Name: name, Trace: newIdentity()},
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

// stopped reports whether the trace has an error. A zero Tracer has that of one without a device.
func (t *Tracer) stopped() bool {
	if t == nil {
		return true
	}
	if t.graph == nil {
		*t = *New(nil, "", Deferred)
	}
	return t.err != nil
}

// fail keeps the first error, with the line of the program that caused it.
// pc is the return address of the public call.
func (t *Tracer) fail(pc uintptr, format string, args ...any) {
	if t.err != nil {
		return
	}
	t.err = fmt.Errorf("%v: trace %s: %w", calls.PositionOf(pc), t.graph.Name, fmt.Errorf(format, args...))
}

// Helper marks the function that calls it as a helper: what a helper traces is put
// down to the line that called the helper, as testing.T.Helper does with failures.
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

// callerPC returns the return address of the caller of the function that calls
// it, or of the first caller above that is no helper. It costs a fraction of
// runtime.Caller, which resolves the line at once.
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

// record appends op and returns its id.
func (t *Tracer) record(op ir.Op, pc uintptr) ir.OpID {
	op.Cost = -1
	t.others = append(t.others, op)
	return t.call(^int32(len(t.others)-1), pc)
}

// call appends a call of the program, as recording has it, and returns its id.
func (t *Tracer) call(what int32, pc uintptr) ir.OpID {
	t.calls.add(what, pc)
	return ir.OpID(t.calls.len() - 1)
}

// collect makes the calls operations of the graph.
func (t *Tracer) collect() {
	if t.calls.len() == 0 {
		return
	}
	ops, positions := huge.Make[ir.Op](t.calls.len()), t.positions()
	parallel.Blocks(len(ops), 1024, func(first, end int) {
		var pos *ir.Position
		for i := first; i < end; i++ {
			if i == first || t.calls.pc(i) != t.calls.pc(i-1) { // loops come from one line
				pos = positions[t.calls.pc(i)]
			}
			t.expand(&ops[i], t.calls.what(i))
			ops[i].Pos = pos
		}
	})
	t.graph.Ops = ops
	t.calls, t.made, t.others = recording{}, nil, nil
}

// expand sets op, which is zero, to what an element of calls stands for. Only what is not zero is written: operations are
// large, and a trace has as many as launches.
func (t *Tracer) expand(op *ir.Op, call int32) {
	if call < 0 {
		*op = t.others[^call]
		return
	}
	m := &t.made[call]
	op.Kind, op.Launch, op.Uses, op.Cost = ir.KindLaunch, m.launch, m.uses, -1
}

// verifyDistinct verifies the graph with each operation once that calls repeat. The rules about a single operation hold
// for all its repetitions if they hold for one, as recorded operations have no After.
func (t *Tracer) verifyDistinct() error {
	g := *t.graph
	g.Ops = make([]ir.Op, len(t.made), len(t.made)+len(t.others))
	for m := range t.made {
		t.expand(&g.Ops[m], int32(m))
	}
	g.Ops = append(g.Ops, t.others...)
	return ir.Verify(&g)
}

// Synchronize waits for the work that has been issued, so that host code
// may look at results; it records nothing.
func (t *Tracer) Synchronize() {
	if !t.stopped() {
		t.synchronize(t.callerPC())
	}
}

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

// settle submits the calls that are held back, before something that may look at what they do. The error
// is what stopped the program, which such a call may have been the first to meet.
func (t *Tracer) settle() error {
	if t.sink == nil || errors.Is(t.err, errFinished) {
		return nil
	}
	t.hand = t.sink.Flush()
	return t.err
}

// Finish ends the trace. On success the Trace owns the buffers and modules;
// on failure they are freed.
func (t *Tracer) Finish() (*Trace, error) {
	if t == nil {
		return nil, errNoTracer
	}
	if t.stopped() && errors.Is(t.err, errFinished) {
		return nil, errFinished
	}
	t.synchronize(t.callerPC())
	if err := t.cleanUp(); err != nil {
		t.err = device.Join(t.err, err)
	}
	t.shareTables(t.others)
	verified := t.verifyDistinct() == nil
	t.collect()
	t.widenOpaque()
	if t.err == nil && !verified {
		t.err = ir.Verify(t.graph) // again, to name operations by their place in the program
	}
	published := *t.graph
	trace := &Trace{Graph: &published, t: t}
	if t.err != nil {
		return nil, device.Join(t.err, trace.Close())
	}
	t.err = errFinished
	return trace, nil
}

// cleanUp frees what a trace that runs has beside its buffers and modules.
func (t *Tracer) cleanUp() error {
	var errs []error
	if t.sink != nil {
		errs = append(errs, t.sink.Close())
	}
	if t.stream != 0 {
		errs = append(errs, t.dev.DestroyStream(t.stream))
		t.stream = 0
	}
	if t.mode != Deferred { // which has what was asked for
		errs = append(errs, t.releaseLate())
	}
	return device.Join(errs...)
}

var errFinished = errors.New("this trace is finished: start a new one to record more")
