package des

import (
	"fmt"
	"math"
)

const never = Time(math.MaxInt64)

// retireAfter is how long Retire keeps an ended task: longer than any gap of a
// profile, so that a new task that depends on a retired one starts exactly when
// it would have had the task been kept.
const retireAfter = 100 * Microsecond

// Engine simulates tasks on one device. Its events are few: a task is ready
// (its dependencies ended Gap ago and it has arrived), a task ends, and the
// rates of the running kernels change. Between two events nothing is computed,
// so running in many small steps gives the same times as running in one.
//
//	Add ──► waiting ──► ready ──► Start called ──► marker            ──► ended
//	          ▲                                  ├► copy engine, host ──►
//	          └── dependencies, arrival, gap     └► fluid             ──►
type Engine struct {
	profile *Profile
	start   func(TaskID, any) Demand
	end     func(TaskID, any, Span)

	tasks   table
	ready   queue // tasks with all dependencies ended, by the time they start
	ends    queue // tasks with a known end
	fluid   fluid
	horizon Time // all events up to here have been processed
	last    Time // latest end so far
	live    int  // tasks not ended

	inFree, outFree, hostFree Time // when each FIFO server is idle again
}

// New returns an engine at time 0. It calls start once for each task, in order
// of (time, priority, id), when the task's dependencies have ended and its
// arrival and gap have passed; start runs the task and returns its demand.
func New(p *Profile, start func(TaskID, any) Demand) *Engine {
	return &Engine{profile: p, start: start, tasks: newTable(), fluid: newFluid(p)}
}

// OnEnd has the engine call f when a task ends, in order of time.
func (e *Engine) OnEnd(f func(id TaskID, data any, span Span)) { e.end = f }

// Now is the time up to which everything has been simulated.
func (e *Engine) Now() Time { return e.horizon }

// Add enters a task. It must not arrive before Now, and it may depend only on
// tasks added before it.
func (e *Engine) Add(t Task) TaskID {
	if t.Arrival < e.horizon {
		panic(fmt.Sprintf("BUG: task arrives at %d ps, but the engine has run to %d ps", t.Arrival, e.horizon))
	}
	id := e.tasks.add(record{arrival: t.Arrival, gap: t.Gap, data: t.Data, prio: t.Priority, succs: none})
	e.live++
	r := e.tasks.at(id)
	at := t.Arrival
	for _, dep := range t.Deps {
		switch {
		case dep < e.tasks.base:
		case dep >= id:
			panic(fmt.Sprintf("BUG: task %d depends on task %d, which was not added before it", id, dep))
		default:
			d := e.tasks.at(dep)
			if d.state == ended {
				at = max(at, d.span.End+t.Gap)
				continue
			}
			e.tasks.link(dep, id)
			r.pending++
		}
	}
	r.arrival = at
	if r.pending == 0 {
		e.ready.push(entry{at, r.prio, id})
	}
	return id
}

// Run processes all events up to and including the given time.
func (e *Engine) Run(until Time) {
	for {
		t := e.nextEvent()
		if t > until || t == never {
			break
		}
		e.step(t)
	}
	if until > e.horizon && until != never {
		e.horizon = until
	}
}

// Wait runs until the task has ended and returns when that was.
func (e *Engine) Wait(id TaskID) Time {
	if id < e.tasks.base {
		return e.horizon
	}
	for e.tasks.get(id).state != ended {
		t := e.nextEvent()
		if t == never {
			panic(fmt.Sprintf("BUG: task %d can never end", id))
		}
		e.step(t)
	}
	return e.tasks.get(id).span.End
}

// Drain runs until every task has ended and returns the latest end so far.
func (e *Engine) Drain() Time {
	e.Run(never)
	if e.live > 0 {
		panic(fmt.Sprintf("BUG: %d tasks can never end", e.live))
	}
	return e.last
}

// Ended reports whether the task has ended by Now.
func (e *Engine) Ended(id TaskID) bool {
	return id < e.tasks.base || e.tasks.get(id).state == ended
}

// Span is when a task ran; it has ended and is not retired.
func (e *Engine) Span(id TaskID) Span { return e.tasks.get(id).span }

// Retire forgets the oldest tasks that ended a while ago: their spans are gone
// and depending on them is no dependency. A long simulation that retires after
// each wait needs memory only for what is in flight.
func (e *Engine) Retire() { e.tasks.retire(e.horizon - retireAfter) }

func (e *Engine) nextEvent() Time {
	return min(e.ready.next(), e.ends.next(), e.fluid.due)
}

// step processes every event of one instant, ends before starts: what ended
// frees its resources for what starts.
func (e *Engine) step(now Time) {
	e.horizon = now
	for e.ends.next() == now {
		e.finish(e.ends.pop().id)
	}
	if e.fluid.due == now {
		e.fluid.advance(now)
		for _, id := range e.fluid.settle() {
			e.tasks.at(id).span.End = now
			e.finish(id)
		}
	}
	for e.ready.next() == now {
		e.begin(now, e.ready.pop().id)
	}
	if e.fluid.dirty {
		e.fluid.advance(now)
		for _, id := range e.fluid.rebalance() {
			e.tasks.at(id).span.Begin = now
		}
	}
}

// begin calls the owner and hands the task to its resource.
func (e *Engine) begin(now Time, id TaskID) {
	r := e.tasks.at(id)
	r.state = started
	r.span = Span{now, now}
	d := e.start(id, r.data)
	p := e.profile
	switch d.Kind {
	case Marker:
		e.finish(id)
	case Fixed:
		e.endAt(id, now, d.Duration)
	case Host:
		e.hostFree = e.endAt(id, max(now, e.hostFree), p.HostCallLatency+d.Duration)
	case CopyIn:
		e.inFree = e.endAt(id, max(now, e.inFree), p.CopyInLatency+p.linkTime(d.Bytes))
	case CopyOut:
		e.outFree = e.endAt(id, max(now, e.outFree), p.CopyOutLatency+p.linkTime(d.Bytes))
	case Kernel, CopyOn:
		e.fluid.add(id, e.tasks.at(id).prio, d)
	default:
		panic(fmt.Sprintf("BUG: demand kind %d", d.Kind))
	}
}

// endAt fixes when a task begins and ends, and returns the end.
func (e *Engine) endAt(id TaskID, begin, takes Time) Time {
	r := e.tasks.at(id)
	r.span = Span{begin, begin + takes}
	e.ends.push(entry{r.span.End, r.prio, id})
	return r.span.End
}

// finish marks a task ended and makes ready what waited only for it.
func (e *Engine) finish(id TaskID) {
	r := e.tasks.at(id)
	r.state = ended
	span, data := r.span, r.data
	r.data = nil
	e.last = max(e.last, span.End)
	e.live--
	for i := r.succs; i != none; {
		out := e.tasks.unlink(i)
		i = out.next
		s := e.tasks.at(out.to)
		s.arrival = max(s.arrival, span.End+s.gap)
		if s.pending--; s.pending == 0 {
			e.ready.push(entry{s.arrival, s.prio, out.to})
		}
	}
	r.succs = none
	if e.end != nil {
		e.end(id, data, span)
	}
}
