package tracer

import (
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/ir"
)

// Trace is a finished recording: the graph, and the buffers and modules of the program on the device.
// graphexec.Instantiate binds a schedule of the graph to them.
type Trace struct {
	Graph  *ir.Graph
	t      *Tracer
	closed bool
	mu     sync.Mutex // guards the scratch memory of reachers and Tracer, which all Execs of the trace use
}

// ErrClosed is in the chain of errors about a trace that was closed, which frees its buffers and modules.
var ErrClosed = sentinel.New(sentinel.ErrClosed, "the trace is closed: trace again")

// errNoTrace is the error of a zero Trace.
const errNoTrace = absent.Error("a zero Trace was passed: Finish returns one")

// Check implements traced.Bindings.
func (tr view) Check(dev device.Device, g *ir.Graph) error {
	switch {
	case tr.Trace == nil || tr.t == nil:
		return errNoTrace
	case absent.Is(dev):
		return absent.Nil("the device")
	case g == nil:
		return absent.Nil("the graph")
	}
	if tr.closed {
		return fmt.Errorf("trace %s: %w", tr.Graph.Name, ErrClosed)
	}
	if !sameDevice(dev, tr.t.dev) {
		return fmt.Errorf("trace %s: %w: instantiate it there, or record the program on this %s", tr.Graph.Name, device.ErrOtherDevice, dev.Info().ID)
	}
	if err := tr.t.lost(); err != nil {
		return err
	}
	return checkIdentity(g, tr.t.graph)
}

// Allocate implements traced.Bindings.
func (tr view) Allocate(id ir.BufferID) error {
	switch {
	case tr.Trace == nil || tr.t == nil:
		return errNoTrace
	case !tr.has(id):
		return fmt.Errorf("%w: no buffer has the number %d of the %d in trace %s", ir.ErrMissing, id, len(tr.t.buffers), tr.Graph.Name)
	}
	return tr.t.back(id)
}

// has reports whether id is a buffer of the trace.
func (tr *Trace) has(id ir.BufferID) bool {
	return tr != nil && tr.t != nil && id >= 0 && int(id) < len(tr.t.buffers)
}

// Pointer returns the current address of a buffer. If live replays bind it differently, it is the address of the last
// change. It is 0 for a buffer that has no memory (see Allocate) or is not of the trace.
func (tr *Trace) Pointer(id ir.BufferID) device.Ptr {
	if !tr.has(id) {
		return 0
	}
	return tr.t.pointer(id)
}

// Bind binds a buffer to another address; 0 stands for its own memory. Read, Write and Execs instantiated
// later use the new address, and fail with a device.ErrFreed once the memory there is freed. The trace
// still owns the buffer's own memory and frees it in Close. Bind ignores an id that is not of the trace.
func (tr *Trace) Bind(id ir.BufferID, at device.Ptr) {
	if !tr.has(id) {
		return
	}
	if a := &tr.t.buffers[id]; at != a.ptr {
		a.bound, a.home = at, tr.t.serial(at)
	} else {
		a.bound, a.home = 0, 0
	}
}

// Module implements traced.Bindings.
func (tr view) Module(id ir.ModuleID) device.Module {
	if tr.Trace == nil || tr.t == nil || id < 0 || int(id) >= len(tr.t.modules) {
		return 0
	}
	return tr.t.modules[id].handle
}

// HostFunc implements traced.Bindings.
func (tr view) HostFunc(id ir.OpID) func() error {
	if tr.Trace == nil || tr.t == nil {
		return nil
	}
	return tr.t.hosts[id]
}

// Reach implements traced.Trace.
func (tr view) Reach(l *ir.Launch, grid ir.Dim3) ([]ir.Access, []ir.Shape, error) {
	switch {
	case tr.Trace == nil || tr.t == nil:
		return nil, nil, errNoTrace
	case l == nil:
		return nil, nil, absent.Nil("the launch")
	}
	k := tr.kernelOf(l, len(tr.t.graph.Buffers))
	s := Shape{Grid: grid, Block: l.Block, Shared: l.Shared}
	if err := checkShape(s); err != nil {
		return nil, nil, err
	}
	switch {
	case k == nil:
		return nil, nil, fmt.Errorf("trace %s launches no kernel %s with such arguments: trace one", tr.Graph.Name, l.Entry)
	case k.opaque:
		return nil, nil, fmt.Errorf("kernel %s may touch memory that no parameter leads to", k.entry)
	}
	args := make([]any, len(l.Args))
	for i, a := range l.Args {
		if a.Kind == ir.ArgBuffer {
			args[i] = Buffer{t: tr.t, memory: memory{id: a.Buffer}, lo: a.Offset, hi: tr.t.graph.Buffers[a.Buffer].Size()}
		}
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	uses := tr.t.reached(k, s, l.Args, args, l.Maps)
	return uses, tr.t.graph.Shapes, nil
}

// Close frees the buffers and modules. Close all Execs that were instantiated from the trace first.
// Closing twice is harmless.
func (tr *Trace) Close() error {
	if tr == nil {
		return nil
	}
	tr.closed = true
	if tr.t == nil {
		return nil
	}
	var errs []error
	for i := range tr.t.buffers {
		if p := tr.t.buffers[i].ptr; p != 0 {
			if err := tr.t.dev.Free(p); err != nil {
				errs = append(errs, fmt.Errorf("free @%s: %w", tr.t.graph.Buffers[i].Name, err))
			}
			tr.t.buffers[i] = allocation{freed: true, closed: true}
		}
	}
	for _, m := range tr.t.modules {
		if m.handle != 0 {
			if err := tr.t.dev.UnloadModule(m.handle); err != nil {
				errs = append(errs, fmt.Errorf("unload %s: %w", m.requested, err))
			}
			m.handle = 0
		}
	}
	return device.Join(errs...)
}
