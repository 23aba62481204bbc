package auto

import (
	"fmt"

	"github.com/reprise-gpu/reprise/auto/internal/period"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// watcher detects repetitions in a program and replays them. It is the traced.Sink of the program.
//
// Each call is hashed twice and shown to two finders of repeats: one for calls that are equal, one for calls that differ
// in buffers and values of scalars. A repeat that is found is compared, planned and instantiated: see adopt. From then on
// a call that begins a known body is held back, with those that follow it, until the body is complete and replayed, or
// until another call arrives and those held back are submitted.
type watcher struct {
	dev    device.Device
	run    traced.Runner
	engine engine

	window []moment // the latest calls, by position
	n      int      // calls and interludes so far
	same   *period.Finder
	shown  int            // position up to which same has seen calls
	alike  *period.Finder // of calls without the names of buffers and the values of scalars

	bodies  map[uint64][]*body // by the likeness of their first call; those with fewest parameters first, and then the longest
	firsts  uint64             // firstBit of every key of bodies
	count   int                // of bodies
	current *body              // that the latest calls belong to
	held    int                // number of its calls that are held back

	last     *body // that enqueued last, nil for calls one by one
	busy     bool  // nothing has waited for that
	event    device.Event
	replayed int // position of the last call that was replayed
	idle     int // calls since then, weighted: see matchWeight
	resting  int // calls to come that are not watched
	woke     int // position at which watching began again
	debt     int // calls into the driver that bodies have cost and replays have not saved yet
	hostDebt int // the same, with what planning has cost the host
	spent    int // calls into the driver, for everything that was submitted or replayed
	refused  []refusal
	looked   int // position up to which the cost of comparing refused repetitions is charged
	stats    Stats
}

// moment is a call or, of kind ir.KindEmpty, an interlude: a point that no replay crosses.
type moment struct {
	calls.Call
	like  uint64 // its likeness
	spent int    // watcher.spent after it
}

func newWatcher(dev device.Device, run traced.Runner, engine engine) *watcher {
	return &watcher{
		dev: dev, run: run, engine: engine, window: make([]moment, 2048),
		same: period.New(maxPeriod), alike: period.New(maxPeriod), bodies: map[uint64][]*body{},
		refused: make([]refusal, maxPeriod+1),
	}
}

func (w *watcher) at(position int) *moment { return &w.window[position&(len(w.window)-1)] }

// Take takes the next call of the program, which is at its position in the window.
func (w *watcher) Take(*calls.Call) (next *calls.Call) {
	if m := w.at(w.n); w.resting > 0 {
		w.rest(&m.Call)
	} else {
		w.watch(m)
	}
	return &w.at(w.n).Call
}

// watch takes a call that is watched.
func (w *watcher) watch(m *moment) {
	m.like = likeness(&m.Call)
	w.stats.Calls++
	if !w.goesOn(m) && !w.begins(m) && w.run.Check(&m.Call) {
		w.submit(&m.Call)
	}
	w.learn(m)
}

// rest takes a call that is not watched.
func (w *watcher) rest(c *calls.Call) {
	w.stats.Calls++
	if w.run.Check(c) {
		w.submit(c)
	}
	if w.resting--; w.resting == 0 {
		w.woke = w.n
		w.interlude()
	}
}

// Flush submits the calls that are held back: the program may look at results now.
func (w *watcher) Flush() (next *calls.Call) {
	w.interlude()
	return &w.at(w.n).Call
}

// interlude submits the calls that are held back, and adds an interlude to the window.
func (w *watcher) interlude() {
	if w.current != nil {
		w.leave(w.n)
	}
	if w.resting > 0 || w.n == 0 || w.at(w.n-1).Kind == ir.KindEmpty {
		return
	}
	m := w.at(w.n)
	m.Call = calls.Call{Operands: m.Operands[:0]}
	m.like = 1
	w.learn(m)
}

// learn adds a moment to the window and takes up the repetitions that end with it.
func (w *watcher) learn(m *moment) {
	m.spent = w.spent
	w.n++
	alike := w.alike.Next(m.like)
	if w.alike.Fresh() { // a call that is like no other equals no other
		w.idle++
	} else {
		w.idle += matchWeight
		for _, r := range w.identical() {
			w.propose(r)
		}
	}
	for _, r := range alike {
		w.propose(r)
	}
	if w.idle > watchLimit && w.n-w.woke >= 2*maxPeriod && w.current == nil {
		w.resting = 14 * maxPeriod
	}
}

// identical returns the periods of which the last call ends an occurrence that equals the one before. In many programs
// it is called for few calls, so the others are shown to the finder now. A call that has left the window is too old to be
// part of two occurrences.
func (w *watcher) identical() []period.Repeat {
	for i := max(w.shown, w.n-len(w.window)); i < w.n-1; i++ {
		w.same.Skip(w.at(i).identity())
	}
	w.shown = w.n
	return w.same.Next(w.at(w.n - 1).identity())
}

// goesOn takes a call that is the next of the body that the latest ones belong to, or of another body that begins like
// it. For any other call it submits the calls that are held back.
func (w *watcher) goesOn(m *moment) bool {
	if w.current == nil {
		return false
	}
	if !w.current.matches(w.held, &m.Call) {
		w.miss()
		if !w.others() {
			w.submitHeld(w.n)
			return false
		}
	}
	w.take()
	return true
}

// begins takes a call that is the first of a body.
func (w *watcher) begins(m *moment) bool {
	if w.firsts&firstBit(m.like) == 0 { // spares most calls the map
		return false
	}
	for _, b := range w.bodies[m.like] {
		if b.matches(0, &m.Call) {
			w.current = b
			w.take()
			return true
		}
	}
	return false
}

// others looks for another body that begins with all calls that are held back and the call at hand.
func (w *watcher) others() bool {
	first := w.n - w.held
	for _, b := range w.bodies[w.at(first).like] {
		if b == w.current || len(b.calls) <= w.held {
			continue
		}
		i := 0
		for i <= w.held && b.matches(i, &w.at(first+i).Call) {
			i++
		}
		if i > w.held {
			w.current = b
			return true
		}
	}
	return false
}

// take holds the call at hand back, and replays the body if it is its last.
func (w *watcher) take() {
	b := w.current
	if varies(&b.calls[w.held]) && !w.run.Check(&w.at(w.n).Call) {
		return
	}
	w.held++
	b.used = w.n
	if w.held < len(b.calls) {
		return
	}
	if err := w.replay(b); err != nil {
		if device.CodeOf(err) != 0 {
			w.run.Fail(w.at(w.n).PC, fmt.Errorf("replay of %d calls: %w", len(b.calls), err))
		} else { // nothing of it was enqueued
			w.drop(b)
			w.stats.Reason = err.Error()
			w.submitHeld(w.n + 1)
			return
		}
	}
	w.current, w.held = nil, 0
}

// replay enqueues a run of a body, behind everything that was enqueued before.
func (w *watcher) replay(b *body) error {
	if err := w.order(b); err != nil {
		return err
	}
	updates, err := b.replay()
	if err != nil {
		return err
	}
	b.replays++
	w.replayed, w.idle = w.n, 0
	w.spent += 1 + updates
	saved := len(b.calls) - 1 - updates
	w.debt, w.hostDebt = max(0, w.debt-saved), max(0, w.hostDebt-saved)
	w.stats.Replays, w.stats.Replayed, w.stats.Updates = w.stats.Replays+1, w.stats.Replayed+len(b.calls), w.stats.Updates+updates
	w.stats.Reason = ""
	return nil
}

// miss counts that the program did something else than the current body. A body that misses more often than it is
// replayed is dropped.
func (w *watcher) miss() {
	b := w.current
	b.misses++
	w.stats.Misses++
	if b.misses > b.replays+4 {
		w.drop(b)
		w.stats.Reason = fmt.Sprintf("%s: the program did something else %d times, and this %d times", describe(b.calls), b.misses, b.replays)
	}
}

// leave submits the calls that are held back, up to a position.
func (w *watcher) leave(end int) {
	w.miss()
	w.submitHeld(end)
}

func (w *watcher) submitHeld(end int) {
	first := end - w.held
	w.current, w.held = nil, 0
	for i := first; i < end; i++ {
		w.submit(&w.at(i).Call)
	}
}

// submit submits a call by itself.
func (w *watcher) submit(c *calls.Call) {
	if w.run.Run(c) {
		w.spent++
	}
}

func (w *watcher) stream(b *body) device.Stream {
	if b == nil {
		return w.run.Stream()
	}
	return b.replayer.Stream()
}

// Order makes what the program submits next begin when everything before it has ended.
func (w *watcher) Order() error { return w.order(nil) }

// order makes what b enqueues next, nil for calls one by one, begin when everything before it has ended.
func (w *watcher) order(b *body) (err error) {
	if w.busy && w.last != b {
		if w.event == 0 {
			if w.event, err = w.dev.CreateEvent(); err != nil {
				return err
			}
		}
		if err := w.dev.Record(w.event, w.stream(w.last)); err != nil {
			return err
		}
		if err := w.dev.Wait(w.stream(b), w.event); err != nil {
			return err
		}
	}
	w.last, w.busy = b, true
	return nil
}

// Wait waits for everything that was enqueued: each part of it began when the one before had ended, so it waits for the
// last one.
func (w *watcher) Wait() error {
	last := w.last
	w.last, w.busy = nil, false
	if last != nil {
		return last.replayer.Wait()
	}
	return w.dev.Synchronize(w.run.Stream())
}

// Close gives up all bodies. The counts stay.
func (w *watcher) Close() error {
	var errs []error
	for _, b := range w.all() {
		errs = append(errs, b.replayer.Close())
	}
	if w.event != 0 {
		errs = append(errs, w.dev.DestroyEvent(w.event))
	}
	w.bodies, w.event, w.current = nil, 0, nil
	return device.Join(errs...)
}
