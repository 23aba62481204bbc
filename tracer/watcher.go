package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/period"
	"github.com/reprise-gpu/reprise/ir"
)

// watcher looks for repetitions in a program and replays them.
type watcher struct {
	t      *Tracer
	engine Engine

	window []moment // what was last, by position
	n      int      // calls and interludes so far
	same   *period.Finder
	told   int            // position up to which same has been told
	alike  *period.Finder // for which buffers, and values of scalars, are all one

	bodies  map[uint64][]*body // by what their first call is like; who is quickest first
	firsts  uint64             // by firstBit: what there is in bodies
	count   int                // of them
	current *body              // that the last calls belong to
	held    int                // how many of them it has so far

	last     *body // who has enqueued last, nil for calls one by one
	busy     bool  // and nobody has waited for that
	event    device.Event
	replayed int // position of the last call that was
	idle     int // calls since then, of which each that took an effort counts for as many as that
	resting  int // calls to come that are not watched
	woke     int // position at which it last began to watch again
	debt     int // calls into the driver that bodies have cost and replays have not saved yet
	hostDebt int // the same, with what planning has cost the host
	spent    int // calls into the driver, for all that is issued or replayed
	refused  []refusal
	looked   int // until which position looks at repetitions that were refused have been paid for
	stats    AutoStats
}

// moment is a call or, of kind ir.KindEmpty, an interlude: something that no replay goes across.
type moment struct {
	call
	like  uint64 // symbol of what the call is like
	spent int    // what the watcher had counted after it
}

func (w *watcher) at(position int) *moment { return &w.window[position&(len(w.window)-1)] }

// see takes the next call of the program, which is in its place.
func (w *watcher) see() {
	m := w.at(w.n)
	if w.resting > 0 {
		w.rest(&m.call)
		return
	}
	m.like = m.likeness()
	w.stats.Calls++
	if !w.goesOn(m) && !w.begins(m) && w.t.check(&m.call) {
		w.submit(&m.call)
	}
	w.learn(m)
}

// rest lets a call pass.
func (w *watcher) rest(c *call) {
	w.stats.Calls++
	if w.t.check(c) {
		w.submit(c)
	}
	if w.resting--; w.resting == 0 {
		w.woke = w.n
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
	w.learn(m)
}

// learn looks whether a repetition ends here.
func (w *watcher) learn(m *moment) {
	m.spent = w.spent
	w.n++
	alike := w.alike.Next(m.like)
	if w.alike.Fresh() { // what is like nothing is the same as nothing
		w.idle++
	} else {
		w.idle += effort
		for _, r := range w.identical() {
			w.propose(r)
		}
	}
	for _, r := range alike {
		w.propose(r)
	}
	if w.idle > patience && w.n-w.woke >= 2*mostCalls && w.current == nil {
		w.resting = 14 * mostCalls
	}
}

// identical are the periods of which the last call ends a visit that is the same as the one before. It is asked for few
// calls in many programs, and hears of the others now. What is no longer in the window is too long ago to be part of two visits.
func (w *watcher) identical() []period.Repeat {
	for i := max(w.told, w.n-len(w.window)); i < w.n-1; i++ {
		w.same.Skip(w.at(i).identity())
	}
	w.told = w.n
	return w.same.Next(w.at(w.n - 1).identity())
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
	if w.firsts&firstBit(m.like) == 0 { // most calls are spared the map
		return false
	}
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
	b := w.current
	if b.calls[w.held].varies() && !w.t.check(&w.at(w.n).call) {
		return
	}
	w.held++
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
	for _, b := range w.all() {
		errs = append(errs, b.replayer.Close())
	}
	if w.event != 0 {
		errs = append(errs, w.t.dev.DestroyEvent(w.event))
	}
	w.bodies, w.event, w.current = nil, 0, nil
	return device.Join(errs...)
}
