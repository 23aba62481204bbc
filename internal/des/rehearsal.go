package des

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
)

// Rehearsal simulates one set of tasks in many orders. Each simulation starts where it first differs from the kept
// one:
//
//	kept  ──────●──────●──────●──────●─► end       ● saved states
//	next               └─── first change ───► end
//
// The times equal those of an Engine. Searches over schedules use it, because they change little at a time: the
// expensive part, sharing the device, is simulated only after the first change.
type Rehearsal struct {
	profile *model.Profile
	demands []model.Demand // by task

	kept, next rehearsed
	any        bool // kept is valid

	// State of the present simulation.
	play     *Play
	rank     []int32      // by task: position in the order
	pending  []int32      // by task: number of dependencies that have not ended
	at       []model.Time // by task: earliest start by its arrival and its ended dependencies
	head     []int32      // by task: first link to a successor
	after    []int32      // by link: next link of the same task
	to       []int32      // by link: the dependent task
	ready    queue        // by rank
	ends     queue        // by task
	fluid    fluid
	hostFree model.Time
}

// Play is an order of the tasks of a Rehearsal.
type Play struct {
	Order   []int32      // all tasks, in the order of adding them to an Engine, which resolves ties
	Arrival []model.Time // by task
	Deps    [][]Dep      // by task; at most one dependency on each other task
	// Least is, by task, a lower bound of the time from its start to the end of the last task (see LeastTime). It may
	// be nil.
	Least []model.Time
}

// Dep is a dependency on task From. The dependent task starts at least Gap after From ends.
type Dep struct {
	From int32
	Gap  model.Time
}

// rehearsed holds one simulation.
type rehearsed struct {
	start, end []model.Time // by task
	begun      []int32      // tasks in the order in which they started
	last       model.Time
	shared     int // number of leading saved states in common with the kept simulation
	marks      []mark
	saved      int // number of used elements of marks: the states after the shared ones
}

// mark is the state after all events up to time now.
type mark struct {
	now, last, hostFree model.Time
	begun               int
	ends                []entry
	fluid               fluid
}

// NewRehearsal returns a rehearsal of tasks on a device with the given profile.
func NewRehearsal(p *model.Profile, demands []model.Demand) *Rehearsal {
	n := len(demands)
	for i := range demands {
		switch demands[i].Kind {
		case model.Marker, model.Kernel, model.CopyIn, model.CopyOut, model.CopyOn, model.Host, model.Fixed:
		default:
			panic(fmt.Sprintf("BUG: a rehearsal of a task that is %v", demands[i].Kind))
		}
	}
	return &Rehearsal{
		profile: p, demands: demands, kept: newRehearsed(n), next: newRehearsed(n),
		rank: make([]int32, n), pending: make([]int32, n), at: make([]model.Time, n), head: make([]int32, n), fluid: newFluid(p),
	}
}

func newRehearsed(n int) rehearsed {
	return rehearsed{start: make([]model.Time, n), end: make([]model.Time, n), begun: make([]int32, 0, n)}
}

// marksPerRun is the approximate number of states saved per simulation. Saving a state costs about as much as
// starting a task.
const marksPerRun = 12

// Run simulates the tasks in an order and returns the end of the last one. It returns false as soon as that end is
// certain to be after the limit.
func (r *Rehearsal) Run(p *Play, limit model.Time) (model.Time, bool) {
	r.play = p
	for i, v := range p.Order {
		r.rank[v] = int32(i)
	}
	now := r.resume()
	r.link(now)
	stride, saved := len(p.Order)/marksPerRun+1, len(r.next.begun)
	for t := r.event(); t != never; {
		if t > limit || !r.step(t, limit) {
			return 0, false
		}
		was := t
		t = r.event()
		if n := len(r.next.begun); n >= saved+stride && was < t && t != never {
			r.save(was)
			saved = n
		}
	}
	if len(r.next.begun) != len(p.Order) {
		panic(fmt.Sprintf("BUG: %d of %d tasks started", len(r.next.begun), len(p.Order)))
	}
	return r.next.last, r.next.last <= limit
}

// event returns the time of the next event.
func (r *Rehearsal) event() model.Time { return min(r.ready.next(), r.ends.next(), r.fluid.due) }

// Keep makes the last run the kept one, with which later runs are compared. The run must have returned true.
func (r *Rehearsal) Keep() {
	kept, next := &r.kept, &r.next
	kept.saved = next.shared
	for i := range next.saved {
		m := kept.mark()
		*m, next.marks[i] = next.marks[i], *m
	}
	next.marks, kept.marks = kept.marks, next.marks
	next.saved, kept.saved = kept.saved, 0
	r.kept, r.next, r.any = r.next, r.kept, true
}

// End returns the end of a task in the last run, which must have returned true.
func (r *Rehearsal) End(v int32) model.Time { return r.next.end[v] }

// resume restores the last saved state before the first difference and returns its time, or -1 for the start.
func (r *Rehearsal) resume() model.Time {
	next := &r.next
	next.begun, next.last, next.shared, next.saved = next.begun[:0], 0, 0, 0
	if r.any {
		changed := r.changed()
		for next.shared < r.kept.saved && r.kept.marks[next.shared].now < changed {
			next.shared++
		}
	}
	r.ends.Heap = r.ends.Heap[:0]
	if next.shared == 0 {
		r.fluid.reset()
		r.hostFree = 0
		return -1
	}
	m := &r.kept.marks[next.shared-1]
	r.fluid.copy(&m.fluid)
	r.ends.Heap = append(r.ends.Heap, m.ends...)
	r.hostFree, next.last = m.hostFree, m.last
	next.begun = append(next.begun, r.kept.begun[:m.begun]...)
	for _, v := range next.begun {
		next.start[v], next.end[v] = r.kept.start[v], r.kept.end[v]
	}
	return m.now
}

// changed returns a time before which the new simulation equals the kept one. It compares the start of each task with
// the start that follows from the kept ends of its dependencies: up to the first difference all ends are the kept
// ones. It also finds the first pair of tasks that started at the same time and whose order has changed.
func (r *Rehearsal) changed() model.Time {
	first := never
	was := &r.kept
	for v, deps := range r.play.Deps {
		at := r.play.Arrival[v]
		for _, l := range deps {
			at = max(at, Plus(was.end[l.From], l.Gap))
		}
		if at != was.start[v] {
			first = min(first, at, was.start[v])
		}
	}
	for i := 1; i < len(was.begun); i++ {
		u, v := was.begun[i-1], was.begun[i]
		if was.start[u] == was.start[v] && r.rank[u] > r.rank[v] {
			return min(first, was.start[u])
		}
	}
	return first
}

// link adds the tasks that have not started at time now.
func (r *Rehearsal) link(now model.Time) {
	r.after, r.to = r.after[:0], r.to[:0]
	for v := range r.head {
		r.head[v] = none
	}
	r.ready.Heap = r.ready.Heap[:0]
	started := func(v int32) bool { return now >= 0 && r.kept.start[v] <= now }
	for _, v := range r.play.Order {
		if started(v) {
			continue
		}
		r.at[v], r.pending[v] = r.play.Arrival[v], 0
		for _, l := range r.play.Deps[v] {
			if started(l.From) && r.kept.end[l.From] <= now {
				r.at[v] = max(r.at[v], Plus(r.kept.end[l.From], l.Gap))
				continue
			}
			r.pending[v]++
			r.to, r.after = append(r.to, v), append(r.after, r.head[l.From])
			r.head[l.From] = int32(len(r.to) - 1)
		}
		if r.pending[v] == 0 {
			r.ready.Push(entry{at: r.at[v], id: TaskID(r.rank[v])})
		}
	}
}

// step is Clock.step. It returns false if the last task is certain to end after the limit.
func (r *Rehearsal) step(now, limit model.Time) bool {
	for r.ends.next() == now {
		r.finish(int32(r.ends.Pop().id), now)
	}
	if r.fluid.due == now {
		r.fluid.advance(now)
		for i := range r.fluid.settle() {
			r.finish(int32(r.fluid.done[i].id), now)
		}
	}
	for r.ready.next() == now {
		v := r.play.Order[r.ready.Pop().id]
		if r.play.Least != nil && now+r.play.Least[v] > limit {
			return false
		}
		r.begin(v, now)
	}
	if r.fluid.dirty {
		r.fluid.advance(now)
		r.fluid.rebalance()
	}
	return true
}

func (r *Rehearsal) begin(v int32, now model.Time) {
	r.next.start[v] = now
	r.next.begun = append(r.next.begun, v)
	switch d := &r.demands[v]; d.Kind {
	case model.Marker:
		r.finish(v, now)
	case model.Fixed:
		r.ends.Push(entry{at: Plus(now, d.Duration), id: TaskID(v)})
	case model.Host:
		r.hostFree = Plus(max(now, r.hostFree), Plus(r.profile.HostCallLatency, d.Duration))
		r.ends.Push(entry{at: r.hostFree, id: TaskID(v)})
	default:
		r.fluid.advance(now)
		r.fluid.add(TaskID(v), 0, d)
	}
}

func (r *Rehearsal) finish(u int32, now model.Time) {
	r.next.end[u] = now
	r.next.last = max(r.next.last, now)
	for i := r.head[u]; i != none; i = r.after[i] {
		v := r.to[i]
		r.at[v] = max(r.at[v], Plus(now, r.gap(u, v)))
		if r.pending[v]--; r.pending[v] == 0 {
			r.ready.Push(entry{at: r.at[v], id: TaskID(r.rank[v])})
		}
	}
}

// gap returns the gap of the dependency of v on u.
func (r *Rehearsal) gap(u, v int32) model.Time {
	for _, l := range r.play.Deps[v] {
		if l.From == u {
			return l.Gap
		}
	}
	panic(fmt.Sprintf("BUG: there is no link from task %d to task %d", u, v))
}

// save saves the present state.
func (r *Rehearsal) save(now model.Time) {
	m := r.next.mark()
	m.now, m.last, m.hostFree, m.begun = now, r.next.last, r.hostFree, len(r.next.begun)
	m.ends = append(m.ends[:0], r.ends.Heap...)
	m.fluid.copy(&r.fluid)
}

// mark returns an element for a new saved state, with memory of an earlier one if there is any.
func (s *rehearsed) mark() *mark {
	if s.saved == len(s.marks) {
		s.marks = append(s.marks, mark{})
	}
	s.saved++
	return &s.marks[s.saved-1]
}

// copy makes f equal to another fluid without sharing memory.
func (f *fluid) copy(from *fluid) {
	own := *f
	*f = *from
	f.flows = append(own.flows[:0], from.flows...)
	f.backlog = append(own.backlog[:0], from.backlog...)
	for i := range f.lines {
		f.lines[i].wait = append(own.lines[i].wait[:0], from.lines[i].wait...)
	}
	f.ids, f.done = own.ids[:0], own.done[:0]
}

// reset makes f an empty fluid.
func (f *fluid) reset() {
	fresh := fluid{profile: f.profile, device: f.device, perSM: f.perSM, due: never}
	f.copy(&fresh)
}
