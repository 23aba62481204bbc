package loop

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/until"
)

// while is a loop that runs on the device: a while node whose body is one or
// several iterations and, after the operation that writes the scalar, the kernel until.
//
//	graph    while ──► report
//	           │
//	body       └─ iteration ─► … ─► iteration ─► until
//
// One launch is the whole loop if the context cannot be cancelled. Otherwise a loop is many launches, each with
// enough rounds to make the time between two launches negligible.
type while struct {
	x      *Exec
	size   int // iterations of a round, a divisor of CheckEvery
	rounds parts.Rounds
	module device.Module
	state  device.Ptr    // see until.StateBytes
	most   uint32        // its second word
	mail   parts.Mailbox // receives its last word, the report of a launch
}

// build makes what a launch needs; close frees it, also what was made before an error.
func (w *while) build() (err error) {
	dev := w.x.dev
	if _, ok := dev.(device.Looper); !ok {
		return unfit("device " + dev.Info().ID + " has no conditional nodes")
	}
	if w.x.view.Moves() {
		return unfit("the body has a prefetch, which a graph cannot hold")
	}
	if rounds := w.x.loop.CheckEvery / w.size; rounds > maxRounds { // so that counts of rounds fit the words of the state
		return unfit(fmt.Sprintf("a check would come after %d rounds, and a launch has at most %d: set CheckEvery or Batch", rounds, maxRounds))
	}
	if w.state, err = dev.Alloc(until.StateBytes); err != nil {
		return err
	}
	if w.mail, err = parts.NewMailbox(dev, until.StateBytes-until.StateReport); err != nil {
		return err
	}
	if w.module, err = dev.LoadModule("until.ptx", until.PTX); err != nil {
		return err
	}
	if w.rounds, err = w.x.rounds(w.size, w.surround); err != nil {
		return err
	}
	return device.Join(w.set(until.StateEvery, 2, uint32(w.x.loop.CheckEvery/w.size)), w.allow(w.longest())) // the second word is the report, which has no meaning yet
}

// surround fills the graph.
func (w *while) surround(r parts.Rounds, g device.Graph) error {
	dev, name := w.x.dev, w.x.loop.Body.Graph.Name
	l := dev.(device.Looper)
	condition, err := l.CreateCondition(g, 1)
	if err != nil {
		return err
	}
	node, bodies, err := l.AddConditional(g, nil, device.Conditional{Kind: device.While, Condition: condition, Bodies: 1, Label: "loop over " + name})
	if err != nil {
		return err
	}
	report := &device.Copy{Dst: w.mail.At, Src: w.state + until.StateReport, Bytes: until.StateBytes - until.StateReport, Label: "report of " + name}
	if _, err := dev.AddNode(g, []device.Node{node}, report); err != nil {
		return err
	}
	u := w.x.until
	entry, test := u.Kernel()
	f, err := dev.Function(w.module, entry)
	if err != nil {
		return err
	}
	return r.Fill(bodies[0], func(i int, behind []device.Node) (device.Node, error) {
		if i < w.size {
			return 0, nil
		}
		return r.Read(behind, func() device.Work { return w.until(f, test, condition) })
	})
}

// until is the launch that ends a round.
func (w *while) until(f device.Function, test []byte, c device.Condition) *device.Launch {
	u := w.x.until
	at := u.at
	if test == nil {
		test, at = until.Never(), w.state+until.StateEvery
	}
	return until.Launch(f, "until "+u.name, c, []device.Ptr{at, w.state}, test)
}

// Limits of one launch.
const (
	maxRounds  = until.MaxRounds
	longEnough = 10 * time.Millisecond // between two checks, if the context can be cancelled or Observe is set
)

func (w *while) run(ctx context.Context, n int) (until.Finding, error) {
	x := w.x
	every := x.loop.CheckEvery
	most := w.longest()
	if ctx.Done() != nil || x.loop.Observe != nil {
		most = w.first()
	}
	for n >= every && ctx.Err() == nil {
		most = min(most, n/every)
		start := x.dev.Now()
		rounds, found, err := w.launch(most)
		if err != nil {
			return until.GoOn, x.failed(most*every, err)
		}
		n -= rounds * w.size
		x.advance(rounds * w.size)
		if found != until.GoOn {
			return found, nil
		}
		most = min(longer(most, x.dev.Now()-start), w.longest())
	}
	if n >= every {
		return until.GoOn, nil // cancelled
	}
	return x.host.run(ctx, n)
}

// longest returns the maximum number of checks of a launch.
func (w *while) longest() int {
	every := w.x.loop.CheckEvery
	return min(w.x.loop.MaxIterations/every, max(1, maxRounds*w.size/every))
}

// first returns the number of checks of the first launch, if the context can be cancelled or Observe is set. They are
// predicted to take a tenth of longEnough, because the prediction may be wrong.
func (w *while) first() int {
	body := w.x.loop.Body
	if body.Profile == "" || body.Predicted <= 0 {
		return 1
	}
	return max(1, int(longEnough/10/time.Duration(body.Predicted))/w.x.loop.CheckEvery)
}

// longer returns the number of checks for the next launch, after a launch with the given checks took that time.
func longer(checks int, took time.Duration) int {
	if took <= 0 {
		return 2 * checks
	}
	return max(checks, int(min(time.Duration(checks)*longEnough/took, maxRounds)))
}

// launch runs up to the given number of checks, and returns the number of rounds that ran.
func (w *while) launch(checks int) (int, until.Finding, error) {
	x := w.x
	if err := w.allow(checks); err != nil {
		return 0, until.GoOn, err
	}
	if err := w.rounds.Launch(1); err != nil {
		return 0, until.GoOn, err
	}
	x.stats.Launches++
	x.stats.Checks++
	if err := x.wait(x.stream); err != nil {
		return 0, until.GoOn, err
	}
	report := binary.LittleEndian.Uint32(w.mail.Bytes)
	return int(report >> 2), until.Finding(report & 3), nil
}

// allow sets the number of checks that later launches run.
func (w *while) allow(checks int) error {
	rounds := uint32(checks * w.x.loop.CheckEvery / w.size)
	if w.most == rounds {
		return nil
	}
	err := w.set(until.StateLeft, 2, rounds)
	if err == nil {
		w.most = rounds
	}
	return err
}

// set sets words of the state.
func (w *while) set(at device.Ptr, n int64, value uint32) error {
	return w.x.dev.Submit(w.x.stream, &device.Memset{Dst: w.state + at, Value: value, Width: 4, Count: n, Label: "rounds of a loop"})
}

func (w *while) bodies() parts.Replays { return w.rounds.Replays() }

func (w *while) follow() error { return w.rounds.Follow() }

func (w *while) close() error {
	dev := w.x.dev
	errs := []error{w.mail.Close(dev)}
	if w.rounds != nil {
		errs = append(errs, w.rounds.Close())
	}
	if w.module != 0 {
		errs = append(errs, dev.UnloadModule(w.module))
	}
	if w.state != 0 {
		errs = append(errs, dev.Free(w.state))
	}
	return device.Join(errs...)
}
