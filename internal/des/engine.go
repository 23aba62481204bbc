package des

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

const never = model.Time(math.MaxInt64)

// retireAfter is the time for which Retire keeps an ended task. It is longer than every gap of a profile. A task that
// depends on a retired task therefore starts at the same time as if the task had been kept.
const retireAfter = 100 * model.Microsecond

// Engine simulates tasks on one device. It has three kinds of events: a task becomes ready (its dependencies ended
// Gap ago and it has arrived), a task ends, and the rates of running kernels change. Nothing is computed between
// events. Many small steps give the same times as one large step.
//
//	Add ──► waiting ──► ready ──► Start called ──► marker            ──► ended
//	          ▲                                  ├► copy engine, host ──►
//	          └── dependencies, arrival, gap     └► fluid             ──►
type Engine struct {
	*Clock
	profile *model.Profile
	start   func(TaskID, any) model.Demand
	end     func(*Record)
	fluid   fluid
	last    model.Time // latest end so far
	live    int        // tasks not ended
	marks   []*Mark

	hostFree model.Time // time at which the callback thread becomes idle
	crossing []Crossing // of the task that is being started; see Cross
}

// New returns an engine with its own clock at time 0. The engine calls start once for each task, in order of (time,
// priority, id), when the dependencies have ended and the arrival and the gap have passed. Function start executes
// the task and returns its demand.
func New(p *model.Profile, start func(TaskID, any) model.Demand) *Engine {
	return NewClock().Engine(p, start)
}

// OnEnd sets a function that the engine calls whenever a task ends, in order of time. The record is valid only during
// the call.
func (e *Engine) OnEnd(f func(*Record)) { e.end = f }

// Add adds a task and returns its id. The task must not arrive before Now. It may depend only on tasks added before
// it, on any engine of the clock.
func (e *Engine) Add(t Task) TaskID {
	if t.Arrival < e.horizon {
		panic(fmt.Sprintf("BUG: task arrives at %d ps, but the engine has run to %d ps", t.Arrival, e.horizon))
	}
	id := e.tasks.add(record{on: e, arrival: t.Arrival, gap: t.Gap, data: t.Data, prio: t.Priority, succs: none, after: NoTask, why: t.Why})
	e.tasks.at(id).counts = id
	e.live++
	r := e.tasks.at(id)
	at := min(t.Arrival, LastTime)
	for _, dep := range t.Deps {
		if dep >= id {
			panic(fmt.Sprintf("BUG: task %d depends on task %d, which was not added before it", id, dep))
		}
		switch d := e.tasks.get(dep); {
		case d == nil: // retired
		case d.state != ended:
			e.tasks.link(dep, id)
			r.pending++
		case Plus(d.span.End, t.Gap) > at:
			at, r.after = Plus(d.span.End, t.Gap), dep
		}
	}
	r.arrival = at
	if r.pending == 0 {
		e.ready.Push(entry{at, r.prio, id})
	}
	return id
}

// Drain runs the clock until every task of the engine has ended. It returns the time of the latest end.
func (e *Engine) Drain() model.Time {
	for !e.Idle() {
		t := e.nextEvent()
		if t == never || e.stopped() {
			panic(fmt.Sprintf("BUG: %d tasks can never end", e.live))
		}
		e.step(t)
	}
	return e.last
}

// Idle reports whether all tasks of the engine have ended.
func (e *Engine) Idle() bool { return e.live == 0 }

// settle ends the kernels and copies whose end is now.
func (e *Engine) settle(now model.Time) {
	if e.fluid.due != now {
		return
	}
	e.fluid.advance(now)
	for i := range e.fluid.settle() {
		w := &e.fluid.done[i]
		e.tasks.at(w.id).span.End = now
		e.finish(w.id, &w.spent)
	}
}

// begin calls the start function and passes the demand of the task to its resource.
func (e *Engine) begin(now model.Time, id TaskID) {
	r := e.tasks.at(id)
	r.state, r.arrival = started, now
	r.span = Span{now, now}
	e.crossing = e.crossing[:0]
	d := e.start(id, r.data)
	e.tasks.at(id).kind = d.Kind
	switch d.Kind {
	case model.Marker:
		e.finish(id, &Spent{})
	case model.Fixed:
		e.endAt(id, Declared, now, d.Duration)
	case Condition:
		e.endAt(id, Deciding, now, e.profile.ConditionLatency)
	case Held:
	case model.Host:
		e.hostCall(id, d.Duration)
	case model.Kernel, model.CopyIn, model.CopyOut, model.CopyOn, CopyPeer:
		e.fluid.advance(now)
		e.fluid.add(id, e.tasks.at(id).prio, &d, e.crossing...)
	default:
		panic(fmt.Sprintf("BUG: demand kind %d", d.Kind))
	}
}

// hostCall runs a host call as soon as the callback thread is idle.
func (e *Engine) hostCall(id TaskID, takes model.Time) {
	e.hostFree = e.endAt(id, HostCall, max(e.horizon, e.hostFree), Plus(e.profile.HostCallLatency, takes))
}

// Return ends a task that is Held for a host call, after the fixed cost of a host call.
func (e *Engine) Return(id TaskID) {
	e.unended(id)
	e.hostCall(id, 0)
}

// endAt sets the begin and the end of a task, and returns the end.
func (e *Engine) endAt(id TaskID, limit Limit, begin, takes model.Time) model.Time {
	r := e.tasks.at(id)
	r.span, r.limit = Span{begin, Plus(begin, takes)}, limit
	e.ends.Push(entry{r.span.End, r.prio, id})
	return r.span.End
}

// finishFixed ends a task whose end was fixed when it started.
func (e *Engine) finishFixed(id TaskID) {
	r := e.tasks.at(id)
	var spent Spent
	spent[Queued] = r.span.Begin - r.arrival
	spent[r.limit] = r.span.End - r.span.Begin
	e.finish(id, &spent)
}

// finish marks a task as ended and makes those tasks ready that waited only for it.
func (e *Engine) finish(id TaskID, spent *Spent) {
	r := e.tasks.at(id)
	r.state = ended
	span := r.span
	e.ended = Record{ID: id, Data: r.data, Kind: r.kind, Start: r.arrival, Span: span, Spent: *spent, After: r.after, Why: r.why}
	r.data = nil
	e.last = max(e.last, span.End)
	e.live--
	e.count(r)
	e.tasks.ended(id, span.End)
	for i := r.succs; i != none; {
		out := e.tasks.unlink(i)
		i = out.next
		s := e.tasks.at(out.to)
		if at := Plus(span.End, s.gap); at >= s.arrival {
			s.arrival, s.after = at, id
		}
		if s.pending--; s.pending == 0 {
			e.ready.Push(entry{s.arrival, s.prio, out.to})
		}
	}
	r.succs = none
	if e.end != nil {
		e.end(&e.ended)
	}
}
