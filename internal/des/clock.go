package des

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
)

// Clock is the virtual time shared by several devices. Their tasks are numbered together and run in one order of
// time, so that a task of one device may depend on a task of another.
type Clock struct {
	engines []*Engine
	tasks   table
	ready   queue       // tasks whose dependencies have ended, ordered by the time at which they can start
	ends    queue       // tasks with a known end
	horizon model.Time  // all events up to here have been processed
	ended   Record      // scratch of finish
	stop    func() bool // may be nil
}

// NewClock returns a clock at time 0.
func NewClock() *Clock { return &Clock{tasks: newTable()} }

// Engine adds a device to the clock; see New.
func (c *Clock) Engine(p *model.Profile, start func(TaskID, any) model.Demand) *Engine {
	e := &Engine{Clock: c, profile: p, start: start, fluid: newFluid(p)}
	c.engines = append(c.engines, e)
	return e
}

// Leave removes the engine from its clock. All its tasks must have ended.
func (e *Engine) Leave() {
	if e.live > 0 {
		panic(fmt.Sprintf("BUG: an engine leaves its clock while %d tasks have not ended", e.live))
	}
	e.engines = slices.DeleteFunc(e.engines, func(other *Engine) bool { return other == e })
}

// Now returns the time up to which all events have been simulated.
func (c *Clock) Now() model.Time { return c.horizon }

// StopWhen stops the clock before the next start of a task once f returns true: TryWait, TryReach and Step then
// return false, and Run returns early. A later call continues from there. Wait and Drain must not be called
// meanwhile. A nil f never stops the clock.
func (c *Clock) StopWhen(f func() bool) { c.stop = f }

func (c *Clock) stopped() bool { return c.stop != nil && c.stop() }

// Run processes all events up to and including the given time.
func (c *Clock) Run(until model.Time) {
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

// Step processes all events of the next instant that has any. It returns false if there is none.
func (c *Clock) Step() bool {
	t := c.nextEvent()
	if t == never || c.stopped() {
		return false
	}
	c.step(t)
	return true
}

// Wait runs the clock until the task has ended and returns the time of its end.
func (c *Clock) Wait(id TaskID) model.Time {
	t, ok := c.TryWait(id)
	if !ok {
		panic(fmt.Sprintf("BUG: task %d can never end", id))
	}
	return t
}

// TryWait is Wait for simulations with Held tasks. It returns false if no event is left before a Held task is
// released.
func (c *Clock) TryWait(id TaskID) (model.Time, bool) {
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

// RunUntilAny runs the clock until one of the tasks has ended, at most to a time, and returns the present time. It
// returns early if no event is left, or if a start function has stopped the clock.
func (c *Clock) RunUntilAny(ids []TaskID, until model.Time) model.Time {
	for !slices.ContainsFunc(ids, c.Ended) {
		t := c.nextEvent()
		if t == never || t > until || c.stopped() {
			break
		}
		c.step(t)
	}
	return c.horizon
}

// Waiters holds the tasks that waited for a detached task.
type Waiters struct {
	succs  int32
	counts TaskID
}

// Detach removes and returns the successors of a task that has not ended. Attach makes them wait for another task
// that has not ended. This lets a node that expands while it runs appear as one task to its successors: the start
// function detaches them, adds the tasks of the node's body, and attaches them to the last of these.
func (c *Clock) Detach(id TaskID) Waiters {
	r := c.unended(id)
	w := Waiters{r.succs, r.counts}
	r.succs = none
	return w
}

// Attach makes the detached successors wait for task id.
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

// Release ends a Held task at the present time.
func (c *Clock) Release(id TaskID) {
	r := c.unended(id)
	r.on.endAt(id, EventWait, r.arrival, c.horizon-r.arrival)
}

// Live returns the number of tasks that have not ended.
func (c *Clock) Live() (n int) {
	for _, e := range c.engines {
		n += e.live
	}
	return n
}

// Next returns the id of the next task to be added.
func (c *Clock) Next() TaskID { return c.tasks.next }

// Ended reports whether the task has ended by Now.
func (c *Clock) Ended(id TaskID) bool {
	r := c.tasks.get(id)
	return r == nil || r.state == ended
}

// Span returns when a task ran. The task must have ended and must not have been retired.
func (c *Clock) Span(id TaskID) Span {
	r := c.tasks.get(id)
	if r == nil {
		panic(fmt.Sprintf("BUG: task %d has been retired", id))
	}
	return r.span
}

// Retire drops the records of tasks that ended more than retireAfter ago. Their spans are lost, and a dependency on
// such a task has no effect. A long simulation that retires after each wait needs memory only for tasks in flight.
func (c *Clock) Retire() { c.tasks.retire(c.horizon - retireAfter) }

func (c *Clock) nextEvent() model.Time {
	t := min(c.ready.next(), c.ends.next())
	for _, e := range c.engines {
		t = min(t, e.fluid.due)
	}
	return t
}

// step processes all events of one instant. Ends come before starts, because ended tasks free resources.
func (c *Clock) step(now model.Time) {
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
	c.rebalance(now)
}
