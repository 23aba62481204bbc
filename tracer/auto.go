package tracer

import (
	"fmt"
	"math/bits"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/period"
	"github.com/reprise-gpu/reprise/ir"
)

// Auto starts a program that is watched while it runs. Calls run as in mode Direct until they begin to
// repeat themselves: what has been done twice in a row is handed to the engine, and from then on each time that the
// program does it again is a replay. Nothing has to be declared, and the results are the same.
//
// To be replayed, the calls of a repetition are held back until all of them have come, or one has that does
// not belong to it. Then those held back are submitted one by one, in order, as they are before Read, Write, ToHost,
// HostCall, Synchronize and Finish. So look at results through those, and not past the tracer. An error
// in submitting a call that was held back is reported when it is submitted, by the line of the call. Pinned memory may be touched after Synchronize.
//
// Each call is compared with all of the one that it should be: kernel, shape, buffers, slices, values and line. Only scalars that
// were different in the second time may be so again; they are set in place. Buffers that change places
// are traced until they are back where they were. What ends a repetition: another call, a host call, a
// look at results, and Alloc and Free.
func Auto(dev device.Device, name string, engine Engine) *Tracer {
	t := New(dev, name, Direct)
	t.watch = &watcher{
		t: t, engine: engine, window: make([]moment, 2048),
		same: period.New(mostCalls), alike: period.New(mostCalls), bodies: map[uint64][]*body{},
		refused: make([]refusal, mostCalls+1),
	}
	return t
}

const (
	// mostCalls is the longest repetition that is found, in calls. A replay begins when the last of them has come, and
	// until then the device may have nothing to do; and two of these are remembered, at some 200 bytes a call.
	mostCalls = 1000
	// fewestCalls is what a replay is at least, unless the program looks at results more often: a launch of a graph costs the
	// host about as much as one of a kernel.
	fewestCalls = 4
	// patience is for how many calls without a replay a program is watched. After that it is for mostly two
	// periods in sixteen, which makes what watching costs a hundredth of a launch.
	patience = 32 * mostCalls
	// mostBodies is how many repetitions are kept ready. Who is used least recently makes room.
	mostBodies = 32
)

// AutoStats counts what became of the calls of an Auto program.
type AutoStats struct {
	Calls    int // launches, copies, fills and prefetches
	Replayed int // of these, as part of a replay; the others were submitted one by one, or are held back
	Replays  int
	Updates  int // scalars set between replays
	Bodies   int // repetitions that were made replayable
	Misses   int // times that calls were held back, and another followed than the repetition has
	// Reason is why what came last was not replayed; "" when it was.
	Reason string
}

// AutoStats returns the counts so far; all zero if t is not from Auto.
func (t *Tracer) AutoStats() AutoStats {
	w := t.watch
	if w == nil {
		return AutoStats{}
	}
	s := w.stats
	if s.Reason == "" && s.Replays == 0 {
		s.Reason = fmt.Sprintf("no two times in a row did the program do the same, in up to %d calls", mostCalls)
	}
	return s
}

// watcher looks for repetitions in a program and replays them.
type watcher struct {
	t      *Tracer
	engine Engine

	window []moment // what was last, by position
	n      int      // calls and interludes so far
	same   *period.Finder
	alike  *period.Finder // for which buffers, and values of scalars, are all one

	bodies  map[uint64][]*body // by what their first call is like; who is quickest first
	count   int                // of them
	current *body              // that the last calls belong to
	held    int                // how many of them it has so far

	last     *body // who has enqueued last, nil for calls one by one
	busy     bool  // and nobody has waited for that
	event    device.Event
	replayed int // position of the last call that was
	resting  int // calls to come that are not watched
	debt     int // calls into the driver that bodies have cost and replays have not saved yet
	spent    int // calls into the driver, for all that is issued or replayed
	refused  []refusal
	stats    AutoStats
}

// moment is a call or, of kind ir.KindEmpty, an interlude: something that no replay goes across.
type moment struct {
	call
	like  uint64 // symbol of what the call is like
	spent int    // what the watcher had counted after it
}

func (w *watcher) at(position int) *moment { return &w.window[position&(len(w.window)-1)] }

// see takes the next call of the program.
func (w *watcher) see(c *call) {
	if w.resting > 0 {
		w.rest(c)
		return
	}
	m := w.at(w.n)
	operands := append(m.operands[:0], c.operands...)
	m.call = *c
	m.operands = operands
	like, same := m.symbols()
	m.like = like
	w.stats.Calls++
	if !w.goesOn(m) && !w.begins(m) {
		w.submit(&m.call)
	}
	w.learn(m, same)
}

// rest lets a call pass.
func (w *watcher) rest(c *call) {
	w.stats.Calls++
	w.submit(c)
	if w.resting--; w.resting == 0 {
		w.interlude()
	}
}

// interlude ends what was going on: the host may look at results now.
func (w *watcher) interlude() {
	if w.current != nil {
		w.leave(w.n)
	}
	if w.resting > 0 || w.n == 0 || w.at(w.n-1).kind == ir.KindEmpty {
		return
	}
	m := w.at(w.n)
	m.call = call{operands: m.operands[:0]}
	m.like = 1
	w.learn(m, 1)
}

// learn looks whether a repetition ends here.
func (w *watcher) learn(m *moment, same uint64) {
	m.spent = w.spent
	w.n++
	for _, r := range w.same.Next(same) {
		w.propose(r)
	}
	for _, r := range w.alike.Next(m.like) {
		w.propose(r)
	}
	if idle := w.n - w.replayed; idle > patience && idle%(2*mostCalls) == 0 && w.current == nil {
		w.resting = 14 * mostCalls
	}
}

// goesOn has a call be the next of the body that the last ones belong to, or of another that begins
// like it. Otherwise it is left.
func (w *watcher) goesOn(m *moment) bool {
	if w.current == nil {
		return false
	}
	if !w.current.matches(w.held, &m.call) {
		w.miss()
		if !w.others() {
			w.submitHeld(w.n)
			return false
		}
	}
	w.take()
	return true
}

// begins has a call be the first of a body.
func (w *watcher) begins(m *moment) bool {
	for _, b := range w.bodies[m.like] {
		if b.matches(0, &m.call) {
			w.current = b
			w.take()
			return true
		}
	}
	return false
}

// others looks for another body to which all calls that are held back belong, and the one at hand.
func (w *watcher) others() bool {
	first := w.n - w.held
	for _, b := range w.bodies[w.at(first).like] {
		if b == w.current || len(b.calls) <= w.held {
			continue
		}
		i := 0
		for i <= w.held && b.matches(i, &w.at(first+i).call) {
			i++
		}
		if i > w.held {
			w.current = b
			return true
		}
	}
	return false
}

// take holds the call at hand back, and if it is the last of its body replays that.
func (w *watcher) take() {
	w.held++
	b := w.current
	b.used = w.n
	if w.held < len(b.calls) {
		return
	}
	if err := w.replay(b); err != nil {
		if device.CodeOf(err) != 0 {
			w.t.fail(w.at(w.n).pc, "replay of %d calls: %w", len(b.calls), err)
		} else { // nothing of it was enqueued
			w.drop(b)
			w.stats.Reason = err.Error()
			w.submitHeld(w.n + 1)
			return
		}
	}
	w.current, w.held = nil, 0
}

// replay enqueues a run of a body, behind all that was enqueued before.
func (w *watcher) replay(b *body) error {
	if err := w.order(b); err != nil {
		return err
	}
	updates := b.changed()
	if err := b.replay(); err != nil {
		return err
	}
	b.replays++
	w.replayed = w.n
	w.spent += 1 + updates
	w.debt = max(0, w.debt-(len(b.calls)-1-updates))
	w.stats.Replays, w.stats.Replayed, w.stats.Updates = w.stats.Replays+1, w.stats.Replayed+len(b.calls), w.stats.Updates+updates
	w.stats.Reason = ""
	return nil
}

// miss counts that a body was not what the program did. One that is right less than half of the time is
// given up.
func (w *watcher) miss() {
	b := w.current
	b.misses++
	w.stats.Misses++
	if b.misses > b.replays+4 {
		w.drop(b)
		w.stats.Reason = fmt.Sprintf("%s: the program did something else %d times, and this %d times", describe(b.calls), b.misses, b.replays)
	}
}

// leave submits what is held back, up to a position.
func (w *watcher) leave(end int) {
	w.miss()
	w.submitHeld(end)
}

func (w *watcher) submitHeld(end int) {
	first := end - w.held
	w.current, w.held = nil, 0
	for i := first; i < end; i++ {
		w.submit(&w.at(i).call)
	}
}

// submit submits a call by itself.
func (w *watcher) submit(c *call) {
	if w.t.err == nil {
		w.t.issue(c)
		w.spent++
	}
}

func (w *watcher) stream(b *body) device.Stream {
	if b == nil {
		return w.t.stream
	}
	return b.replayer.Stream()
}

// order has what b enqueues next, nil for calls one by one, begin when all before it has ended.
func (w *watcher) order(b *body) (err error) {
	if w.busy && w.last != b {
		if w.event == 0 {
			if w.event, err = w.t.dev.CreateEvent(); err != nil {
				return err
			}
		}
		if err := w.t.dev.Record(w.event, w.stream(w.last)); err != nil {
			return err
		}
		if err := w.t.dev.Wait(w.stream(b), w.event); err != nil {
			return err
		}
	}
	w.last, w.busy = b, true
	return nil
}

// wait is for all that was enqueued: each stretch of it began when the one before had ended.
func (w *watcher) wait() error {
	w.interlude()
	last := w.last
	w.last, w.busy = nil, false
	if last != nil {
		return last.replayer.Wait()
	}
	return w.t.dev.Synchronize(w.t.stream)
}

func (w *watcher) close() error {
	var errs []error
	for _, list := range w.bodies {
		for _, b := range list {
			errs = append(errs, b.replayer.Close())
		}
	}
	if w.event != 0 {
		errs = append(errs, w.t.dev.DestroyEvent(w.event))
	}
	w.bodies, w.event, w.current = nil, 0, nil
	return device.Join(errs...)
}

// symbols are hashes of what a call is like, and of all of it.
func (c *call) symbols() (like, same uint64) {
	h := hash(c.kind).add(uint64(c.pc))
	if k := c.kernel; k != nil {
		grid, block := &c.shape.Grid, &c.shape.Block
		h = h.add(uint64(k.number) ^ uint64(c.shape.Shared)<<32)
		h = h.add(uint64(grid.X) ^ uint64(grid.Y)<<32 ^ uint64(grid.Z)<<24)
		h = h.add(uint64(block.X) ^ uint64(block.Y)<<32 ^ uint64(block.Z)<<24)
	}
	rest := hash(1)
	for i := range c.operands {
		o := &c.operands[i]
		if o.kind == ir.ArgBuffer {
			h, rest = h.add(o.bits^uint64(o.end)<<24), rest.add(uint64(o.id))
		} else {
			h, rest = h.add(uint64(o.typ)), rest.add(o.bits)
		}
	}
	return uint64(h) & symbolMask, uint64(h^rest.add(0)) & symbolMask
}

// symbolMask is all that is kept of hashes; tests keep less.
var symbolMask = ^uint64(0)

type hash uint64

func (h hash) add(v uint64) hash {
	return hash(bits.RotateLeft64(uint64(h)^v*0x9e3779b97f4a7c15, 29) * 0xbf58476d1ce4e5b9)
}
