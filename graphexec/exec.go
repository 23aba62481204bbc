package graphexec

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	exectrace "runtime/trace"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Backend selects how a schedule is replayed on the device.
type Backend uint8

const (
	Graph   Backend = iota // one explicit graph: lane order and waits become edges
	Streams                // a stream per lane, an event per recorded operation
)

var backendNames = [...]string{Graph: "graph", Streams: "streams"}

func (b Backend) String() string {
	if int(b) >= len(backendNames) {
		return fmt.Sprintf("backend(%d)", uint8(b))
	}
	return backendNames[b]
}

// Backends lists the back ends in the order tables show them.
func Backends() []Backend { return []Backend{Graph, Streams} }

// Stats counts the calls of an Exec since it was instantiated.
type Stats struct {
	Replays  int // launches enqueued
	Updates  int // operations changed in place
	Rebuilds int // graphs instantiated again for changes that could not be made in place
}

// Exec replays a schedule. Only one goroutine may use it at a time. It borrows the buffers and modules of the trace: close
// it before the trace.
type Exec struct {
	// Invariants: impl is nil exactly before Instantiate and after Close. prog describes what impl does: both change
	// together, in apply and rebuild.

	dev    device.Device
	prog   *program
	memory *memory // nil for a device that keeps no ledger

	// What the bindings do not provide. The Exec owns both.
	arena     device.Ptr // 0 for none
	generated *generated // nil for none

	impl   backend
	blank  map[ir.OpID]bool // operations that were disabled when impl was instantiated
	detach func()           // ends the registration with the trace; nil without one
	busy   bool             // a call that replays or changes the program is in progress
	stats  Stats
}

// backend is one form of an instantiated program.
type backend interface {
	launch(n int) error             // enqueues n replays, at least one
	length() int                    // number of commands of one replay
	wait(ctx context.Context) error // for all replays
	// update sets the work of operations. On failure it also returns the index in works of the
	// operation that failed.
	update(works []opWork) (int, error)
	// keeps reports whether an operation is a node of an instantiated graph. Some changes of such an
	// operation need a new instance.
	keeps(op ir.OpID) bool
	rebuild() error // instantiates the present program again, after the replays in flight
	// origin returns the stream on which later replays begin and end.
	origin() device.Stream
	close() error
}

// Instantiate lowers a schedule for dev, binds it to the buffers, modules and host calls of a *tracer.Trace and allocates
// the arena. The caller closes the result. It returns an error for an invalid schedule, for a trace of another program or
// device, and for an operation that the back end cannot express, such as a prefetch between operations of a graph.
func Instantiate(dev device.Device, s *ir.Schedule, trace traced.Program, form Backend) (*Exec, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device")
	case absent.Is(trace):
		return nil, absent.Nil("the trace")
	case int(form) >= len(backendNames):
		return nil, absent.Error(fmt.Sprintf("unknown form %d: use Graph or Streams", form))
	}
	if err := verify(s); err != nil {
		return nil, fmt.Errorf("cannot instantiate the schedule: %w", err)
	}
	b := traced.BindingsOf(trace)
	if b == nil {
		return nil, fmt.Errorf("cannot instantiate the schedule: %w", traced.ErrForeign)
	}
	start := time.Now()
	var x *Exec
	var err error
	observe.Region(observe.Instantiate, func() { x, err = instantiate(dev, s, b, form) })
	if err != nil {
		return nil, fmt.Errorf("instantiate %s as %v: %w", s.Graph.Name, form, err)
	}
	observe.Log("instantiated", func() []slog.Attr {
		h, hosted := x.impl.(*hosted)
		attributes := []slog.Attr{
			slog.String("program", s.Graph.Name), slog.String("backend", form.String()), slog.Int("operations", s.Graph.Len()),
			slog.Bool("host_decides", hosted), slog.Duration("took", time.Since(start)),
		}
		if hosted {
			attributes = append(attributes, slog.String("reason", h.why.Error()))
		}
		return attributes
	})
	return x, nil
}

// verify checks a schedule and its graph: in particular, that operations refer to buffers, parameters
// and modules that exist. ir.Verify would check dependencies as well, so the graph is passed without
// them; ir.VerifySchedule checks them.
func verify(s *ir.Schedule) error {
	if s == nil || s.Graph == nil {
		return ir.VerifySchedule(s)
	}
	g, err := s.Graph.WithDeps(ir.Traced, nil, nil) // VerifySchedule checks the dependencies
	if err == nil {
		err = ir.Verify(g)
	}
	if err != nil {
		return err
	}
	return ir.VerifySchedule(s)
}

// instantiate makes the program, then its back end. If the device has no conditional nodes, a program
// with loops or branches gets the hosted back end instead of the requested one. Last, the Exec is
// attached to the trace, so that reads and writes of buffers follow Rebind and Swap.
func instantiate(dev device.Device, s *ir.Schedule, b traced.Bindings, form Backend) (*Exec, error) {
	x, err := prepare(dev, s, b)
	if err != nil {
		return nil, err
	}
	switch form {
	case Graph:
		x.impl, err = newGraphBackend(dev, x.prog)
	case Streams:
		x.impl, err = newStreamsBackend(dev, x.prog)
	default:
		panic(fmt.Sprintf("BUG: back end %d", form))
	}
	if device.CodeOf(err) == device.NotSupported && x.prog.controlled() {
		x.impl, err = newHosted(dev, x.prog, err)
	}
	if err != nil {
		return nil, device.Join(err, x.release())
	}
	if trace := traced.Of(b); trace != nil {
		if x.detach, err = trace.Attach(x.at); err != nil {
			return nil, device.Join(err, x.impl.close(), x.release())
		}
	}
	return x, nil
}

// at returns the address of a buffer in replays, or 0 for a buffer that they do not use or that lies
// in the arena. The trace calls it to find the memory of its buffers.
func (x *Exec) at(id ir.BufferID) device.Ptr {
	if x.prog.inArena(id) {
		return 0
	}
	return x.prog.settings.pointer[id]
}

// Pointer returns the address at which replays access a buffer of the trace, with all changes by Swap
// and Rebind. It returns an error for an unknown buffer and for one that no operation uses.
func (x *Exec) Pointer(buffer string) (device.Ptr, error) {
	if x.closed() {
		return 0, errClosed
	}
	return x.pointerOf(buffer)
}

// prepare returns an Exec without a back end: arena, bound buffers, lowered operations and the record
// of the allocations that they use.
func prepare(dev device.Device, s *ir.Schedule, b traced.Bindings) (_ *Exec, err error) {
	if err := b.Check(dev, s.Graph); err != nil {
		return nil, err
	}
	x := &Exec{dev: dev}
	arena, offset, err := newArena(dev, s)
	if err != nil {
		return nil, err
	}
	x.arena = arena
	defer func() {
		if err != nil {
			err = device.Join(err, x.release())
		}
	}()
	placed, err := place(s, b, arena, offset)
	if err != nil {
		return nil, err
	}
	if x.generated, err = loadGenerated(dev, s.Graph); err != nil {
		return nil, err
	}
	placed.generated = x.generated
	prog, err := newProgram(dev, s, placed)
	if err != nil {
		return nil, err
	}
	x.prog, x.memory = prog, watch(dev, prog.settings)
	return x, nil
}

// clone returns an Exec with a copy of the program, in the same memory and without a back end. Both
// can then be changed independently.
func (x *Exec) clone() *Exec {
	c := &Exec{dev: x.dev, prog: x.prog.clone()}
	if x.memory != nil {
		memory := *x.memory
		memory.homes = slices.Clone(memory.homes)
		c.memory = &memory
	}
	return c
}

var (
	errClosed = sentinel.New(sentinel.ErrClosed, "use of a closed Exec, or of one that was never instantiated: compile the trace, or instantiate the schedule")
	errBusy   = sentinel.New(sentinel.ErrBusy, "replay of an Exec that is being replayed or changed: one goroutine at a time may use it")
)

// Replay enqueues one run of the whole schedule and returns. Replays run one after another. If ctx is
// done, Replay enqueues nothing and returns the error of ctx. On a device without conditional nodes,
// Replay of a schedule with loops or branches returns only after the last of these has ended, because
// the host reads their scalars.
func (x *Exec) Replay(ctx context.Context) error { return x.ReplayN(ctx, 1) }

// ReplayN enqueues n replays in one call into the device. For short replays that call is a large part
// of the cost on the host. ReplayN checks ctx before it enqueues anything. Enqueued replays are not
// cancelled, so up to n replays may run after ctx is done. A large n is divided into parts of at most
// 16384 replays or 2^20 commands; each part is one call, and ctx is checked between parts. n must be
// 0 or more.
func (x *Exec) ReplayN(ctx context.Context, n int) error {
	if ctx == nil {
		return absent.Nil("the context")
	}
	if n < 0 {
		return fmt.Errorf("%d replays: want 0 or more", n)
	}
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	if exectrace.IsEnabled() {
		defer exectrace.StartRegion(ctx, observe.Replay).End()
	}
	err := ctx.Err()
	for n > 0 && err == nil {
		once := n
		if n > 1 {
			once = atOnce(n, x.impl.length())
		}
		if err = x.launch(once); err == nil && once < n {
			err = ctx.Err()
		}
		n -= once
	}
	return err
}

// atOnce returns how many of n replays, with the given number of commands each, are submitted in one
// call into the device: at least 1.
func atOnce(n, commands int) int {
	n = min(n, parts.MaxReplays)
	if n*commands > parts.MaxCommands {
		n = max(1, parts.MaxCommands/commands)
	}
	return n
}

func (x *Exec) launch(n int) error {
	if err := cmp.Or(x.stale(), x.midway()); err != nil {
		return err
	}
	if err := x.impl.launch(n); err != nil {
		return fmt.Errorf("replay %d: %w", x.stats.Replays, err)
	}
	x.stats.Replays += n
	return nil
}

// begin and end enclose calls that only one goroutine may make at a time. As with Go maps, detection is
// best effort: begin returns errBusy if it sees another call in progress. The flag is not atomic, so
// the race detector reports what begin misses. A lock would take a tenth of the time of a replay.
func (x *Exec) begin() error {
	switch {
	case x.closed():
		return errClosed
	case x.busy:
		return errBusy
	}
	x.busy = true
	return nil
}

func (x *Exec) end() { x.busy = false }

// closed reports whether x cannot be replayed: after Close, or if x is nil or zero.
func (x *Exec) closed() bool { return x == nil || x.impl == nil }

// Wait waits for all replays and returns their first error. The error names the failed operation and
// the source line that issued it.
//
// If ctx is done first, Wait returns the error of ctx at once, even in the middle of a kernel. It
// cancels nothing: the replays remain in flight, as on a GPU, and a later Wait returns their result.
// Until then the contents of the memory that they write are undefined, other calls into the device
// may block until the current operation ends, and Close waits for all of them.
func (x *Exec) Wait(ctx context.Context) error {
	switch {
	case ctx == nil:
		return absent.Nil("the context")
	case x.closed():
		return errClosed
	}
	return x.of("replay of", x.impl.wait(ctx))
}

// Stream returns the stream on which replays begin and end. Work enqueued on it before a Replay ends
// before the replay begins, and work enqueued on it afterwards begins after the replay has ended. The
// stream exists until Close; after Close, Stream returns 0. With back end Streams, replays are faster
// if Stream is never called, since the join of a replay can then be left to the next one.
func (x *Exec) Stream() device.Stream {
	if x.closed() {
		return 0
	}
	return x.impl.origin()
}

// Stats returns the counts so far.
func (x *Exec) Stats() Stats {
	if x == nil {
		return Stats{}
	}
	return x.stats
}

// Close waits for all work on the device and frees everything that Instantiate has created. It returns
// the first error of that work. A second Close does nothing.
func (x *Exec) Close() error {
	if x.closed() {
		return nil
	}
	impl := x.impl
	x.impl = nil
	if x.detach != nil { // the Execs of a loop, but for its body, are not attached
		x.detach()
	}
	return x.of("close", device.Join(x.dev.SynchronizeAll(), impl.close(), x.release()))
}

// of adds the name of the graph to an error; nil stays nil.
func (x *Exec) of(what string, err error) error {
	if err == nil {
		return nil // before any string is made: every replay ends here
	}
	return fmt.Errorf("%s %s: %w", what, x.prog.sched.Graph.Name, err)
}
