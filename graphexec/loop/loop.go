package loop

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// Loop repeats a schedule until a scalar that it computes meets a condition. Every lowering has this meaning:
//
//	for i := 1; i <= MaxIterations; i++ {
//		run Body
//		if (i%CheckEvery == 0 || i == MaxIterations) && Until holds {
//			break
//		}
//	}
//
// A check that finds a NaN ends the loop as well. Every lowering ends at the same iteration and leaves the same bytes,
// except in temporaries.
type Loop struct {
	Body          *ir.Schedule
	Until         Until
	MaxIterations int
	CheckEvery    int // 0 is 1
	Lowering      Lowering
	Backend       graphexec.Backend // for iterations that are replayed one by one

	// Overrun states whether iterations past the end may run. They begin before the host has read the scalar.
	Overrun Overrun

	// Expected is the expected number of iterations of all runs together; 0 means MaxIterations. Batch is the number of
	// iterations in one graph; 0 selects it by the measured costs of launching and instantiating. A batch divides
	// CheckEvery. If it is unrolled and may overrun, it may also be a multiple of CheckEvery.
	Expected, Batch int

	// Several, if set, returns a schedule of n iterations for a graph of n iterations, such as the optimizer's pass unroll
	// makes. In it, an iteration may begin before the previous one has ended. It may return a schedule of a divisor of n
	// iterations, which is repeated, or nil for a schedule of one. Apply then refuses Grid and Enable: each would change n
	// operations, and passes that make copies, such as rename, may rely on the bytes that an operation writes.
	Several func(n int) (*ir.Schedule, error)

	// Observe, if not nil, is called with the number of iterations so far, whenever the host has read it. It may use the
	// device but not the loop. If the body may overrun, it sees the state of a later iteration.
	Observe func(iterations int)
}

// Overrun states whether a body may run past the end of its loop. This saves a round trip to the host at each check.
type Overrun uint8

const (
	// Forbidden means that no iteration begins before the result of the previous check is known.
	Forbidden Overrun = iota
	// Undone restores the contents that buffers had at the end of the loop. Past the end, the body must not fault, hang or
	// call the host. Two copies of all buffers that it writes, except temporaries, take memory.
	Undone
	// Harmless promises that the body changes nothing once the scalar meets the condition.
	Harmless
)

// Lowering selects where the condition of a loop is evaluated.
type Lowering uint8

const (
	Auto        Lowering = iota // the one with the least expected overhead; Result.Why states the estimates
	HostChecked                 // the host replays the body and reads the scalar
	Unrolled                    // the host launches graphs of several iterations and reads the scalar
	WhileNode                   // the device evaluates the condition, in a while node of a graph
)

var loweringNames = [...]string{Auto: "auto", HostChecked: "host", Unrolled: "unrolled", WhileNode: "while"}

func (l Lowering) String() string {
	if int(l) < len(loweringNames) {
		return loweringNames[l]
	}
	return fmt.Sprintf("lowering(%d)", uint8(l))
}

// Ending is the reason for which a run of a loop ended.
type Ending uint8

const (
	Cancelled  Ending = iota // the context was done, or an operation failed: see the error
	Met                      // Until holds
	Exhausted                // after MaxIterations Until does not hold
	NotANumber               // the scalar is NaN
)

var endings = [...]string{Cancelled: "cancelled", Met: "met", Exhausted: "exhausted", NotANumber: "not a number"}

func (e Ending) String() string {
	if int(e) < len(endings) {
		return endings[e]
	}
	return fmt.Sprintf("ending(%d)", uint8(e))
}

// Result describes a run of a loop. A loop that reached MaxIterations or computed NaN returns no error: check that Ending
// is Met.
type Result struct {
	Iterations int      // iterations whose results are in the buffers
	Ending     Ending   // why the loop ended; Met if Until holds
	Lowering   Lowering // how most of the iterations ran
	Batch      int      // iterations of one graph
	Why        string   // the reason for Lowering and Batch; "" if the caller set them
}

// Stats counts what an Exec did.
type Stats struct {
	Iterations int // number of iterations whose results were kept
	Overrun    int // iterations past the end
	Launches   int // replays of the body, and launches of graphs with several iterations
	Checks     int // reads by the host: of the scalar, or of the state of a while node
	Updates    int // operations changed in place, in every graph that has them
	Rebuilds   int // graphs instantiated again for changes that could not be made in place
}

// Exec runs a loop. Like a graphexec.Exec, it may be used by one goroutine at a time, and is closed before the trace.
type Exec struct {
	loop   Loop
	dev    device.Device
	body   *graphexec.Exec
	view   parts.Replays // of the body
	until  *predicate
	stream device.Stream // of the body

	host  *batches // replays that never overrun, for the iterations that form leaves
	form  lowering // the lowering in use
	chose Lowering // its name
	batch int      // iterations of its graph
	why   string   // why chose and batch were selected
	done  int      // iterations of the current run
	busy  bool     // during a run, or a call that changes later runs
	stats Stats

	flight flight // of the last run
}

// lowering runs iterations of a loop that has run a multiple of CheckEvery so far.
type lowering interface {
	// run runs n iterations, or fewer if a check ends the loop or ctx is done. It adds them
	// to done and returns the finding of the last check. If it returns no error, no work is in progress.
	run(ctx context.Context, n int) (until.Finding, error)
	// bodies returns the replays of which iterations consist.
	bodies() parts.Replays
	// follow updates the other nodes after the replays have moved a buffer.
	follow() error
	close() error
}

// Instantiate lowers a loop for dev, over the buffers, modules and host calls of a *tracer.Trace. The caller closes the
// result.
func Instantiate(dev device.Device, l Loop, trace traced.Program) (*Exec, error) {
	if l.Body == nil || l.Body.Graph == nil {
		return nil, absent.Nil("the body of the loop")
	}
	if l.CheckEvery == 0 {
		l.CheckEvery = 1
	}
	if err := l.check(); err != nil {
		return nil, parts.Wrapped("loop over "+l.Body.Graph.Name, err)
	}
	if l.Batch == 0 {
		l.CheckEvery = min(l.CheckEvery, max(1, l.MaxIterations)) // the last iteration is a check
	}
	body, err := graphexec.Instantiate(dev, l.Body, trace, l.Backend)
	if err != nil {
		return nil, err
	}
	x := &Exec{loop: l, dev: dev, body: body, view: parts.Open(body), stream: body.Stream()}
	if err := x.lower(trace); err != nil {
		return nil, device.Join(x.wrap(err), x.Close())
	}
	observe.Log("loop lowered", func() []slog.Attr {
		return []slog.Attr{slog.String("program", l.Body.Graph.Name), slog.String("lowering", x.chose.String()), slog.Int("batch", x.batch), slog.String("reason", x.why)}
	})
	return x, nil
}

// check reports which option is out of range.
func (l *Loop) check() error {
	divides := l.Batch == 0 || l.Batch > 0 && l.CheckEvery%l.Batch == 0
	multiple := l.Batch > 0 && l.Batch%max(l.CheckEvery, 1) == 0
	switch {
	case int(l.Lowering) >= len(loweringNames):
		return fmt.Errorf("%v is none of Auto, HostChecked, Unrolled and WhileNode", l.Lowering)
	case l.MaxIterations < 0:
		return fmt.Errorf("MaxIterations is %d; want 0 or more", l.MaxIterations)
	case l.CheckEvery < 0 || l.Expected < 0:
		return fmt.Errorf("CheckEvery is %d and Expected %d; want 0 or more", l.CheckEvery, l.Expected)
	case l.Overrun > Harmless:
		return fmt.Errorf("overrun(%d) is none of Forbidden, Undone and Harmless", l.Overrun)
	case multiple && !divides && (l.Lowering != Unrolled || l.Overrun == Forbidden):
		return fmt.Errorf("a batch of %d iterations is longer than CheckEvery (%d): use the lowering Unrolled with Overrun set to Undone or Harmless", l.Batch, l.CheckEvery)
	case l.Lowering != HostChecked && l.Batch > parts.MaxCommands/max(1, l.Body.Graph.Len()):
		return fmt.Errorf("a batch of %d iterations of %d operations each: a graph of more than %d would take the driver seconds; set a smaller Batch", l.Batch, l.Body.Graph.Len(), parts.MaxCommands)
	case !divides && !multiple:
		return fmt.Errorf("a batch of %d iterations, checked every %d: want a divisor or a multiple of that", l.Batch, l.CheckEvery)
	}
	return nil
}

func (x *Exec) wrap(err error) error {
	return parts.Wrapped("loop over "+x.loop.Body.Graph.Name, err)
}

func (x *Exec) lower(trace traced.Program) (err error) {
	if x.until, err = newPredicate(x.loop.Body, trace, x.loop.Until); err != nil {
		return err
	}
	x.host = newHostChecked(x)
	if err := x.host.build(Forbidden); err != nil {
		return err
	}
	return x.choose()
}

// Run runs the loop from the present contents of the buffers, and returns when it has ended; no Wait is needed. A second
// Run continues from where the first ended.
//
// When ctx is done, Run stops after a whole number of iterations, and returns that number and the error of ctx. It waits at
// most 50 ms for iterations in flight and counts those that have ended. Wait returns the final number; any other call on x
// waits for them first.
//
// The error of a failed operation names it, and the iterations of which one failed. The contents of the buffers are then
// undefined.
func (x *Exec) Run(ctx context.Context) (Result, error) {
	if ctx == nil {
		return Result{}, absent.Nil("the context")
	}
	if err := x.begin(); err != nil {
		return Result{}, err
	}
	defer x.end()
	if err := x.resume(ctx); err != nil {
		return x.result(Cancelled), x.wrap(err)
	}
	if err := x.view.Stale(); err != nil {
		return Result{}, x.wrap(err)
	}
	x.done = 0
	return x.fly(ctx)
}

func (x *Exec) run(ctx context.Context) (Ending, error) {
	for x.done < x.loop.MaxIterations {
		if err := ctx.Err(); err != nil {
			return Cancelled, err
		}
		found, err := x.form.run(ctx, x.loop.MaxIterations-x.done)
		switch {
		case err != nil:
			return Cancelled, x.wrap(err)
		case found == until.Met:
			return Met, nil
		case found == until.NotANumber:
			return NotANumber, nil
		}
	}
	return Exhausted, nil
}

var errRunning = sentinel.New(sentinel.ErrBusy, "use of a loop.Exec that is being run or changed: one goroutine at a time may use it, and Observe may not")

var errClosed = sentinel.New(sentinel.ErrClosed, "use of a closed Exec, or of one that was never instantiated: compile or instantiate the loop")

// begin starts a call that only one goroutine may make at a time, as in graphexec.Exec.
func (x *Exec) begin() error {
	switch {
	case x.closed():
		return errClosed
	case x.busy:
		return x.wrap(errRunning)
	}
	x.busy = true
	return nil
}

func (x *Exec) end() { x.busy = false }

func (x *Exec) closed() bool { return x == nil || x.body == nil || x.view.Closed() }

// Stream returns the stream on which runs of the loop begin. Work enqueued on it before Run ends before the first
// iteration begins. For a nil Exec it is 0.
func (x *Exec) Stream() device.Stream {
	if x == nil {
		return 0
	}
	return x.stream
}

// Stats returns the counts so far.
func (x *Exec) Stats() Stats {
	if x == nil {
		return Stats{}
	}
	all := x.stats
	for _, r := range x.replays() {
		updates, rebuilds := r.Changes()
		all.Updates, all.Rebuilds = all.Updates+updates, all.Rebuilds+rebuilds
	}
	return all
}

// Close frees what Instantiate made. Closing twice is harmless.
func (x *Exec) Close() error {
	switch {
	case x.closed():
		return nil
	case x.busy:
		return x.wrap(errRunning)
	}
	errs := []error{x.resume(context.Background()), x.dev.SynchronizeAll()}
	for _, l := range x.lowerings() {
		errs = append(errs, l.close())
	}
	return device.Join(append(errs, x.body.Close())...)
}

// lowerings returns the lowerings that exist.
func (x *Exec) lowerings() (all []lowering) {
	if x.host != nil {
		all = append(all, x.host)
	}
	if x.form != nil {
		all = append(all, x.form)
	}
	return all
}

// advance adds n iterations and calls Observe.
func (x *Exec) advance(n int) {
	x.done += n
	if x.loop.Observe != nil {
		x.observe()
	}
}

// failed adds to err that it occurred in one of the next n iterations.
func (x *Exec) failed(n int, err error) error {
	switch {
	case err == nil:
		return nil
	case n == 1:
		return fmt.Errorf("iteration %d: %w", x.done+1, err)
	}
	return fmt.Errorf("one of iterations %d to %d: %w", x.done+1, x.done+n, err)
}
