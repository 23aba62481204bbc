package des

import (
	"fmt"
	"slices"
)

// Clock is the virtual time of several devices. Their tasks are numbered together and run
// in one order of time, so that a task of one device may depend on a task of another.
type Clock struct {
	engines []*Engine
	tasks   table
	ready   queue       // tasks with all dependencies ended, by the time they start
	ends    queue       // tasks with a known end
	horizon Time        // all events up to here have been processed
	ended   Record      // scratch of finish
	stop    func() bool // nil for never
}

// NewClock returns a clock at time 0.
func NewClock() *Clock { return &Clock{tasks: newTable()} }

// Engine adds a device to the clock: see New.
func (c *Clock) Engine(p *Profile, start func(TaskID, any) Demand) *Engine {
	e := &Engine{Clock: c, profile: p, start: start, fluid: newFluid(p)}
	c.engines = append(c.engines, e)
	return e
}

// Leave takes the engine, all of whose tasks have ended, off its clock.
func (e *Engine) Leave() {
	if e.live > 0 {
		panic(fmt.Sprintf("BUG: an engine leaves its clock while %d tasks have not ended", e.live))
	}
	e.engines = slices.DeleteFunc(e.engines, func(other *Engine) bool { return other == e })
}

// Now is the time up to which everything has been simulated.
func (c *Clock) Now() Time { return c.horizon }

// StopWhen has the clock stand before the next task that would start once f returns true: TryWait, TryReach and Step then
// return false and Run returns early. A later call goes on from there. Wait and Drain must not be called meanwhile. Nil
// stops nothing.
func (c *Clock) StopWhen(f func() bool) { c.stop = f }

func (c *Clock) stopped() bool { return c.stop != nil && c.stop() }

// Run processes all events up to and including the given time.
func (c *Clock) Run(until Time) {
	for {
		if c.stopped() {
			return
		}
		t := c.nextEvent()
		if t > until || t == never {
			break
		}
		c.step(t)
	}
	if until > c.horizon && until != never {
		c.horizon = until
	}
}

// Step processes the events of the next instant that has any, and reports whether there
// was one.
func (c *Clock) Step() bool {
	t := c.nextEvent()
	if t == never || c.stopped() {
		return false
	}
	c.step(t)
	return true
}

// Wait runs the clock until the task has ended and returns when that was.
func (c *Clock) Wait(id TaskID) Time {
	t, ok := c.TryWait(id)
	if !ok {
		panic(fmt.Sprintf("BUG: task %d can never end", id))
	}
	return t
}

// TryWait is Wait for when tasks may be Held. It fails when nothing can happen any
// more before one of them is released.
func (c *Clock) TryWait(id TaskID) (Time, bool) {
	for !c.Ended(id) {
		t := c.nextEvent()
		if t == never || c.stopped() {
			return c.horizon, false
		}
		c.step(t)
	}
	if r := c.tasks.get(id); r != nil {
		return r.span.End, true
	}
	return c.horizon, true
}

// Waiters is what waited for a task.
type Waiters struct {
	succs  int32
	counts TaskID
}

// Detach takes from a task that has not ended what waits for it, and Attach has
// that wait for another, which must not have ended either. This is how a node that
// unfolds while it runs stays one task to those behind it: start detaches them, adds
// the tasks of the node's body and attaches them to the last.
func (c *Clock) Detach(id TaskID) Waiters {
	r := c.unended(id)
	w := Waiters{r.succs, r.counts}
	r.succs = none
	return w
}

// Attach is the counterpart of Detach.
func (c *Clock) Attach(id TaskID, w Waiters) {
	r := c.unended(id)
	r.join(id, w.counts)
	if r.succs == none {
		r.succs = w.succs
		return
	}
	last := r.succs
	for c.tasks.edges[last].next != none {
		last = c.tasks.edges[last].next
	}
	c.tasks.edges[last].next = w.succs
}

func (c *Clock) unended(id TaskID) *record {
	if c.Ended(id) {
		panic(fmt.Sprintf("BUG: task %d has ended", id))
	}
	return c.tasks.at(id)
}

// Release ends a task that is Held, now.
func (c *Clock) Release(id TaskID) {
	r := c.unended(id)
	r.on.endAt(id, EventWait, r.arrival, c.horizon-r.arrival)
}

// Live is the number of tasks that have not ended.
func (c *Clock) Live() (n int) {
	for _, e := range c.engines {
		n += e.live
	}
	return n
}

// Next is the id that the next task gets.
func (c *Clock) Next() TaskID { return c.tasks.next }

// Ended reports whether the task has ended by Now.
func (c *Clock) Ended(id TaskID) bool {
	r := c.tasks.get(id)
	return r == nil || r.state == ended
}

// Span is when a task ran; it has ended and is not retired.
func (c *Clock) Span(id TaskID) Span {
	r := c.tasks.get(id)
	if r == nil {
		panic(fmt.Sprintf("BUG: task %d has been retired", id))
	}
	return r.span
}

// Retire forgets the tasks that ended a while ago: their spans are gone and
// depending on them is no dependency. A long simulation that retires after each wait
// needs memory only for what is in flight.
func (c *Clock) Retire() { c.tasks.retire(c.horizon - retireAfter) }

func (c *Clock) nextEvent() Time {
	t := min(c.ready.next(), c.ends.next())
	for _, e := range c.engines {
		t = min(t, e.fluid.due)
	}
	return t
}

// step processes every event of one instant, ends before starts: what ended
// frees its resources for what starts.
func (c *Clock) step(now Time) {
	c.horizon = now
	for c.ends.next() == now {
		id := c.ends.Pop().id
		c.tasks.at(id).on.finishFixed(id)
	}
	for _, e := range c.engines {
		e.settle(now)
	}
	for c.ready.next() == now && !c.stopped() {
		id := c.ready.Pop().id
		c.tasks.at(id).on.begin(now, id)
	}
	for _, e := range c.engines {
		e.rebalance(now)
	}
}
