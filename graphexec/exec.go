package graphexec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Backend is the form a schedule takes on the device.
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

// Bindings says where the things a graph names are on the device. A finished
// trace is one.
type Bindings interface {
	// Check reports why a schedule of the graph cannot be replayed with these bindings on dev: they are of another device, or of
	// another trace.
	Check(dev device.Device, g *ir.Graph) error
	// Allocate gives a buffer memory if it has none. Pointer is its address from then on.
	Allocate(ir.BufferID) error
	Pointer(ir.BufferID) device.Ptr
	// Bind notes that replays have a buffer at another address from now on.
	Bind(ir.BufferID, device.Ptr)
	Module(ir.ModuleID) device.Module
	HostFunc(ir.OpID) func() error // of an operation of the trace
}

// Stats counts what an Exec did.
type Stats struct {
	Replays  int // launches enqueued
	Updates  int // operations changed in place
	Rebuilds int // graphs instantiated again for changes that could not be made in place
}

// Exec is an instantiated schedule. It is used by one goroutine at a time and
// borrows the buffers and modules of its bindings, which must outlive it. The arena of a
// schedule that has one is its own.
type Exec struct {
	dev    device.Device
	arena  device.Ptr // 0 for none
	prog   *program
	memory *memory // nil for a device that keeps no ledger
	impl   backend
	blank  map[ir.OpID]bool // operations that were off when impl was made
	detach func()           // from the bindings
	busy   bool             // in a call that changes what follows here
	stats  Stats
}

// backend is one form of an instantiated program.
type backend interface {
	launch(n int) error             // n replays, at least one
	length() int                    // commands of one
	wait(ctx context.Context) error // for every replay
	// update gives operations other work; of a failure it says at which.
	update(works []opWork) (int, error)
	keeps(op ir.OpID) bool // whether it is a node of an instance, which some changes need anew
	rebuild() error
	origin() device.Stream // where replays begin and end from now on
	close() error
}

// Instantiate lowers a schedule for dev. The caller closes the result.
func Instantiate(dev device.Device, s *ir.Schedule, b Bindings, form Backend) (*Exec, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device")
	case absent.Is(b):
		return nil, absent.Nil("the bindings, which a trace is,")
	case int(form) >= len(backendNames):
		return nil, absent.Error(fmt.Sprintf("unknown form %d: use Graph or Streams", form))
	}
	if err := verify(s); err != nil {
		return nil, fmt.Errorf("cannot instantiate the schedule: %w", err)
	}
	x, err := instantiate(dev, s, b, form)
	if err != nil {
		return nil, fmt.Errorf("instantiate %s as %v: %w", s.Graph.Name, form, err)
	}
	return x, nil
}

// verify checks a schedule, and that operations name what there is.
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

func instantiate(dev device.Device, s *ir.Schedule, b Bindings, form Backend) (*Exec, error) {
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
		x.impl, err = newHosted(dev, x.prog)
	}
	if err != nil {
		return nil, device.Join(err, x.freeArena())
	}
	if trace := traced.Of(b); trace != nil {
		if x.detach, err = trace.Attach(x.at); err != nil {
			return nil, device.Join(err, x.impl.close(), x.freeArena())
		}
	}
	return x, nil
}

// at is where replays have a buffer; 0 for one that they do not use or have in the arena.
func (x *Exec) at(id ir.BufferID) device.Ptr {
	if x.prog.inArena(id) {
		return 0
	}
	return x.prog.settings.pointer[id]
}

// Pointer is the address that replays have a buffer of the trace at: since a Swap or Rebind the new one.
func (x *Exec) Pointer(buffer string) (device.Ptr, error) {
	if x.closed() {
		return 0, errClosed
	}
	return x.pointerOf(buffer)
}

// prepare is an Exec but for its back end.
func prepare(dev device.Device, s *ir.Schedule, b Bindings) (_ *Exec, err error) {
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
			err = device.Join(err, x.freeArena())
		}
	}()
	placed, err := place(s, b, arena, offset)
	if err != nil {
		return nil, err
	}
	prog, err := newProgram(dev, s, placed)
	if err != nil {
		return nil, err
	}
	x.prog, x.memory = prog, watch(dev, prog.settings)
	return x, nil
}

// clone is the same program for another back end, in the same memory.
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
	errClosed = errors.New("use of a closed Exec, or of one that was never instantiated: compile the trace, or instantiate the schedule")
	errBusy   = errors.New("replay of an Exec that is being replayed or changed: one goroutine at a time may use it")
)

// Replay enqueues one run of the whole schedule and returns; replays run one
// after another. It fails without enqueuing anything when ctx is done. A schedule with loops or branches on a device without
// conditional nodes returns when the last of them has ended, since the host reads their scalars.
func (x *Exec) Replay(ctx context.Context) error { return x.ReplayN(ctx, 1) }

// ReplayN is n calls of Replay in one call into the device, which for short replays is much of
// what they cost the host. Whether ctx is done is asked before: what has been enqueued
// runs, so n is also how far a cancelled caller may overshoot. Of very many it is asked again
// after every 16 384 replays or a million commands, of which each such part is a call.
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

// atOnce returns how many of n replays, with the given number of commands each, are submitted in one call of the device.
func atOnce(n, commands int) int {
	n = min(n, parts.MaxReplays)
	if n*commands > parts.MaxCommands {
		n = max(1, parts.MaxCommands/commands)
	}
	return n
}

func (x *Exec) launch(n int) error {
	if err := x.stale(); err != nil {
		return err
	}
	if err := x.impl.launch(n); err != nil {
		return fmt.Errorf("replay %d: %w", x.stats.Replays, err)
	}
	x.stats.Replays += n
	return nil
}

// begin and end are around what one goroutine may do at a time. As with maps of Go, another that is caught is told,
// and one that is not is a race, which the race detector finds: a lock would be a tenth of a replay.
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

// closed reports whether there is nothing to replay: after Close, and of a nil or zero Exec.
func (x *Exec) closed() bool { return x == nil || x.impl == nil }

// Wait returns when every replay has finished, with the first error of their
// work. A failed operation is named with the source line that issued it. When ctx is done before that, Wait returns the
// error of ctx, also in the middle of a kernel, and cancels nothing: the replays stay in flight, as they do on a GPU, and
// a later Wait returns how they ended. Until then the memory that they use holds whatever they have come to, other calls
// into the device may have to wait for what runs at that moment, and Close waits for all of it.
func (x *Exec) Wait(ctx context.Context) error {
	switch {
	case ctx == nil:
		return absent.Nil("the context")
	case x.closed():
		return errClosed
	}
	return x.of("replay of", x.impl.wait(ctx))
}

// Stream returns the stream on which a replay begins and ends: work enqueued there before Replay ends before
// the replay begins, and work enqueued there afterwards begins when the replay has ended. The stream
// exists until Close; then Stream returns 0. Replays on several streams are quicker if Stream is never called.
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

// Close waits for the device and frees what Instantiate made. Closing twice is
// harmless.
func (x *Exec) Close() error {
	if x.closed() {
		return nil
	}
	impl := x.impl
	x.impl = nil
	if x.detach != nil { // the Execs of a loop, but for its body, are not attached
		x.detach()
	}
	return x.of("close", device.Join(x.dev.SynchronizeAll(), impl.close(), x.freeArena()))
}

// of says which graph an error is about.
func (x *Exec) of(what string, err error) error {
	if err == nil {
		return nil // before any string is made: every replay ends here
	}
	return fmt.Errorf("%s %s: %w", what, x.prog.sched.Graph.Name, err)
}
