package auto

import (
	"fmt"
	"log/slog"

	"github.com/reprise-gpu/reprise/auto/internal/period"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// watcher detects repetitions in a program and replays them. It is the traced.Sink of the program.
//
// Each call is hashed twice and passed to two finders of repeats: one for calls that are equal, one for calls that
// differ in buffers and values of scalars. A repeat that is found is compared, planned and instantiated (see adopt).
// From then on a call that begins a known body is held back, with those that follow it, until the body is complete
// and replayed, or until another call arrives and those held back are submitted:
//
//	             first call of a body          next call of it         last call of it: replay
//	submitting ───────────────────────► held ──────────────────► held ────────────────────────► submitting
//	                                     └── another call, or Flush: submit those held ──────────────▲
//
// Without replays, watching pauses: see watchLimit.
type watcher struct {
	dev    device.Device
	run    traced.Runner
	engine engine

	// Detection. A position counts the calls and interludes of the program from 0.
	window []moment       // ring of the latest calls and interludes, by position modulo its length
	n      int            // position of the next call
	same   *period.Finder // of equal calls, by identity
	shown  int            // position up to which same has received calls
	alike  *period.Finder // of similar calls, by likeness

	// Bodies.
	bodies  map[uint64][]*body // by the likeness of the first call: fewest parameters first, then the longest
	firsts  uint64             // union of firstBit of the keys of bodies
	count   int                // number of bodies
	current *body              // the body whose calls are held back; nil for none
	held    int                // number of calls held back

	// Order of the work on several streams.
	last  *body        // the body that was enqueued last; nil for single calls
	busy  bool         // work was enqueued since the last Wait
	event device.Event // orders streams; 0 before the first use

	// Pauses of watching.
	replayed int // position of the last call that was replayed
	idle     int // weighted number of calls since then: see matchWeight
	resting  int // number of calls until watching resumes; 0 while watching
	woke     int // position at which watching resumed last

	// Costs, in calls into the driver.
	debt     int       // cost of bodies to the driver that replays have not saved yet
	hostDebt int       // the same, including the host's time for planning
	spent    int       // all calls so far, single ones, replays and updates
	refused  []refusal // by period
	looked   int       // position up to which comparisons are charged: see lookCost
	stats    Stats
}

// moment is a call or an interlude. An interlude is of kind ir.KindEmpty. It is a point that no replay crosses,
// because the program may read results there.
type moment struct {
	calls.Call
	like  uint64 // likeness of the call
	spent int    // value of watcher.spent behind it
}

func newWatcher(dev device.Device, run traced.Runner, engine engine) *watcher {
	return &watcher{
		dev: dev, run: run, engine: engine, window: make([]moment, 2048),
		same: period.New(maxPeriod), alike: period.New(maxPeriod), bodies: map[uint64][]*body{},
		refused: make([]refusal, maxPeriod+1),
	}
}

// at returns the call or interlude at a position. It must not have left the window.
func (w *watcher) at(position int) *moment { return &w.window[position&(len(w.window)-1)] }

// Take implements traced.Sink. The call is in the window already, at position n, where Take or Flush has returned
// memory for it.
func (w *watcher) Take(*calls.Call) (next *calls.Call) {
	if m := w.at(w.n); w.resting > 0 {
		w.rest(&m.Call)
	} else {
		w.watch(m)
	}
	return &w.at(w.n).Call
}

// watch handles a call while watching.
func (w *watcher) watch(m *moment) {
	m.like = likeness(&m.Call)
	w.stats.Calls++
	if !w.goesOn(m) && !w.begins(m) && w.run.Check(&m.Call) {
		w.submit(&m.Call)
	}
	w.learn(m)
}

// rest handles a call during a pause: it is submitted at once.
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

// Flush implements traced.Sink. It submits the calls that are held back, since the program may read results next.
func (w *watcher) Flush() (next *calls.Call) {
	w.interlude()
	return &w.at(w.n).Call
}

// interlude submits the calls that are held back and adds an interlude to the window, unless the last entry is one.
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

// learn adds a moment to the window, proposes the repeats that end with it, and starts a pause if there was no
// replay for too long.
func (w *watcher) learn(m *moment) {
	m.spent = w.spent
	w.n++
	alike := w.alike.Next(m.like)
	if w.alike.Fresh() { // without a similar call there is no equal one
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

// identical returns the repeats of equal calls that end with the last call. It is called only if there is a similar
// call, which is rare in many programs. The calls since its last call are passed to the finder first; those that
// have left the window are too old to be part of two occurrences.
func (w *watcher) identical() []period.Repeat {
	for i := max(w.shown, w.n-len(w.window)); i < w.n-1; i++ {
		w.same.Skip(w.at(i).identity())
	}
	w.shown = w.n
	return w.same.Next(w.at(w.n - 1).identity())
}

// goesOn holds a call back if it is the next of the current body, or of another body that begins with the same
// calls. Otherwise it submits the calls that are held back and returns false.
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

// begins holds a call back if it is the first of a body, and reports whether it is.
func (w *watcher) begins(m *moment) bool {
	if w.firsts&firstBit(m.like) == 0 { // avoids the lookup in the map for most calls
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

// others makes another body the current one: one that begins with all calls that are held back and the new call. It
// reports whether there is one.
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

// take holds the new call back. If it is the last of the current body, take replays the body. A replay that fails
// before anything is enqueued is replaced by single calls; an error of the device stops the program.
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
			w.refuse(err.Error())
			w.submitHeld(w.n + 1)
			return
		}
	}
	w.current, w.held = nil, 0
}

// replay enqueues a run of a body, ordered behind all earlier work, and credits the calls that it saves.
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

// refuse sets the reason why the latest calls were not replayed.
func (w *watcher) refuse(reason string) {
	if w.stats.Reason != reason {
		observe.Log("not replayed", func() []slog.Attr { return []slog.Attr{slog.String("reason", reason)} })
	}
	w.stats.Reason = reason
}

// miss counts a miss: another call than the next one of the current body. A body with more misses than replays, and
// some to spare, is dropped.
func (w *watcher) miss() {
	b := w.current
	b.misses++
	w.stats.Misses++
	if b.misses > b.replays+4 {
		w.drop(b)
		w.refuse(fmt.Sprintf("%s: the program did something else %d times, and this %d times", describe(b.calls), b.misses, b.replays))
	}
}

// leave counts a miss and submits the calls that are held back, which end before a position.
func (w *watcher) leave(end int) {
	w.miss()
	w.submitHeld(end)
}

// submitHeld submits the calls that are held back, which end before a position, one by one.
func (w *watcher) submitHeld(end int) {
	first := end - w.held
	w.current, w.held = nil, 0
	for i := first; i < end; i++ {
		w.submit(&w.at(i).Call)
	}
}

// submit submits a single call.
func (w *watcher) submit(c *calls.Call) {
	if w.run.Run(c) {
		w.spent++
	}
}

// stream returns the stream of a body, or that of single calls for nil.
func (w *watcher) stream(b *body) device.Stream {
	if b == nil {
		return w.run.Stream()
	}
	return b.replayer.Stream()
}

// Order implements traced.Sink.
func (w *watcher) Order() error { return w.order(nil) }

// order makes the next work of b, or the next single call for nil, begin when all earlier work has ended. It needs
// an event only where the stream changes; work on one stream is ordered.
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

// Wait implements traced.Sink. All work is ordered one after the other (see order), so it waits for the last.
func (w *watcher) Wait() error {
	last := w.last
	w.last, w.busy = nil, false
	if last != nil {
		return last.replayer.Wait()
	}
	return w.dev.Synchronize(w.run.Stream())
}

// Close implements traced.Sink. It closes all bodies. The counts stay, so that StatsOf works afterwards.
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
