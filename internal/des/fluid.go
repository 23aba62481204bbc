package des

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/internal/heap"
)

// The fluid model: kernels and copies that run together are liquids flowing at
// rates that change only when one of them starts, ends or changes phase.
//
// A kernel's blocks run in slots. With s slots out of the SMs x PerSM that it
// could fill alone, and m = min(s, SMs) multiprocessors touched, it finishes
//
//	min( s / BlockCycles,                 latency: every slot turns over in one block's latency
//	     C(r, m) / (work on r / Blocks) ) for each resource r
//
// blocks per unit of time. C(r, m) is what r offers to m multiprocessors: a pipe
// m cycles per cycle, L2 what they can draw up to what it delivers, DRAM its
// bandwidth. The first term is Little's law: s blocks in flight, each for one
// latency. The full waves, floor(Blocks/s) of them, are one phase; the tail wave
// of Blocks mod s blocks is another that holds only as many slots as it has
// blocks, so that a successor may fill the rest. A kernel alone that is bound by
// latency thus takes BlockCycles x ceil(Blocks/s), and never less than its
// slowest block.
//
//	slots │ A A A A A A A A A B B     B starts in the
//	      │ A A A A A A B B B B B     tail of A
//	      └──────────────────────► time
//	        └ waves ─┘└tail┘
//
// Slots go to kernels by priority, then in order of start, and are never taken
// from blocks that run; but a kernel with full waves left hands its slots back
// at the end of a wave when one of higher priority wants them, as the block
// scheduler of the hardware does. When the demands for a resource add up to more
// than there is, all who use it slow down in proportion. That is what a FIFO in
// front of a resource does, and unlike max-min fairness it needs one pass.
//
// A kernel that touches managed memory which is elsewhere first waits for all of it, in its
// slots and at what the driver serves, and computes after that. On the card a warp stalls
// where it faults and keeps its place, the driver takes faults a batch at a time, and
// warps that have gone through their pages meet again in the next batch: batches and what
// is computed between them take turns.
//
// What this approximates is a scheduler that hands single blocks to slots. Over
// 500 random mixtures of up to 12 kernels the makespans differ by 2 % in the mean
// and 19 % at worst (TestFluidIsCloseToSchedulingBlockByBlock); an event costs the
// number of running kernels, not of blocks.

const (
	slack    = 1e-9 // absorbs rounding in counts of blocks and slots
	rounding = 1e-6 // the same in ps
)

// flow is one running kernel or copy.
type flow struct {
	id   TaskID
	seq  int64 // order of start
	prio int32
	line int8 // copy engine: one at a time; -1 for none
	// capacity is how many slots it could fill on an empty device; 0 for a copy, which needs none.
	capacity float64
	blocks   float64
	latency  Time     // of a slot's first block: launch ramp
	ramp     Limit    // what that is for
	then     *Demand  // of the kernel that a copy precedes, nil for none
	turn     float64  // ps one block takes alone
	slowest  Time     // from the end of the ramp to the end, at least
	work     supplies // per block
	listed   [resources]Limit
	needs    int // how many resources are listed

	missing float64 // bytes to fault in before the first block gets on
	left    float64 // blocks not finished
	held    float64 // slots
	base    float64 // left when held last changed: waves are counted from there
	stop    float64 // left at the end of this phase
	solo    float64 // blocks per ps if it had its slots and nothing else ran
	rate    float64 // blocks per ps
	limit   Limit   // why not faster
	begun   bool
	rampTo  Time // no block finishes before this
	due     Time // end of the phase at this rate
	since   Time // when it came
	spent   Spent
}

// supplies is an amount of each resource.
type supplies [resources]float64

// Before orders flows by priority, then by start.
func (a flow) Before(b flow) bool {
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	return a.seq < b.seq
}

// drained reports a flow whose last block is all that is left of it.
func (w *flow) drained() bool { return w.left <= slack }

// fluid is the set of flows of one device.
type fluid struct {
	profile *Profile
	device  supplies // what there is per ps
	perSM   supplies // what one multiprocessor can use of it

	flows   []flow          // by priority, then seq
	kernels int             // among flows, at most profile.MaxKernels
	backlog heap.Heap[flow] // kernels that wait for a place in flows
	lines   [copyEngines]copyEngine
	seq     int64
	now     Time // flows' left is as of now
	due     Time // earliest due
	dirty   bool // flows changed since rates were computed
	ids     []TaskID
	done    []flow // the flows that settle ended

	used supplies // so far
}

const (
	noLine      = -1
	copyEngines = 2 // one for each direction
)

// copyEngine serves one copy at a time, in order.
type copyEngine struct {
	busy bool
	wait []flow
	next int // of wait
}

func newFluid(p *Profile) fluid {
	f := fluid{profile: p, due: never}
	f.device, f.perSM = p.supplies()
	return f
}

// add enters a kernel or copy that starts now; rates follow in rebalance.
func (f *fluid) add(id TaskID, prio int32, d *Demand) {
	f.seq++
	w := flow{id: id, seq: f.seq, prio: prio, line: noLine, rampTo: never, ramp: Ramp, due: never, since: f.now}
	f.dirty = true
	switch {
	case d.Kind == Kernel && d.Bulk > 0:
		then := *d
		then.Bulk, w.then = 0, &then
		d = &Demand{Kind: CopyIn, Bytes: d.Bulk}
	case d.Kind == Kernel:
		f.addKernel(w, d)
		return
	}
	// A copy is a flow of bytes; it holds no slots.
	w.blocks = max(d.Bytes, 1)
	w.left = w.blocks
	w.work[DRAM] = 1
	switch d.Kind {
	case CopyOn:
		w.latency = f.profile.CopyOnLatency
		f.insert(w)
		return
	case CopyIn:
		w.line, w.latency = 0, f.profile.CopyInLatency
		w.work[LinkIn], w.work[Link] = 1, 1
	case CopyOut:
		w.line, w.latency = 1, f.profile.CopyOutLatency
		w.work[LinkOut], w.work[Link] = 1, 1
	default:
		panic(fmt.Sprintf("BUG: a flow of kind %d", d.Kind))
	}
	if d.Bytes == 0 {
		w.work = supplies{}
	}
	if e := &f.lines[w.line]; e.busy {
		e.wait = append(e.wait, w)
	} else {
		e.busy = true
		f.insert(w)
	}
}

func (f *fluid) addKernel(w flow, d *Demand) {
	if !(d.Blocks >= 1) || !(d.PerSM >= 1) {
		panic(fmt.Sprintf("BUG: kernel task %d has %v blocks, %v per multiprocessor", w.id, d.Blocks, d.PerSM))
	}
	p := f.profile
	cycle := 1e6 / p.ClockMHz // ps
	w.capacity = float64(p.SMs) * math.Floor(d.PerSM)
	w.blocks, w.left, w.latency = d.Blocks, d.Blocks, p.KernelRamp
	if d.Faulted > 0 {
		w.missing, w.latency, w.ramp = d.Faulted, w.latency+p.FaultLatency, Faults
	}
	w.turn = d.BlockCycles * cycle
	w.slowest = timeOf(d.SlowestCycles * cycle)
	w.work = p.work(d)
	for r := range w.work {
		w.work[r] /= d.Blocks
	}
	if f.kernels == p.MaxKernels {
		f.backlog.Push(w)
		return
	}
	f.kernels++
	f.insert(w)
}

func (f *fluid) insert(w flow) {
	w.spent[Queued] += f.now - w.since
	for r, n := range w.work {
		if n > 0 {
			w.listed[w.needs] = Limit(r)
			w.needs++
		}
	}
	i := len(f.flows)
	f.flows = append(f.flows, w)
	for ; i > 0 && w.Before(f.flows[i-1]); i-- {
		f.flows[i] = f.flows[i-1]
	}
	f.flows[i] = w
}

// resources lists what a flow works on: few of all there are.
func (w *flow) resources() []Limit {
	if w.missing > 0 {
		return faulting[:]
	}
	return w.listed[:w.needs]
}

// faulting is what a byte faulted in passes through.
var faulting = [...]Limit{LinkIn, Link, Faults}

// per is how much of a resource one block takes, or one byte that is missing.
func (w *flow) per(r Limit) float64 {
	if w.missing > 0 {
		return 1
	}
	return w.work[r]
}

// remaining is what the present phase uses up: bytes that are missing, then blocks.
func (w *flow) remaining() *float64 {
	if w.missing > 0 {
		return &w.missing
	}
	return &w.left
}

// advance lets everything flow at the present rates until now.
func (f *fluid) advance(now Time) {
	passed := now - f.now
	f.now = now
	if passed == 0 {
		return
	}
	dt := float64(passed)
	for i := range f.flows {
		w := &f.flows[i]
		remaining := w.remaining()
		after := max(*remaining-w.rate*dt, w.stop)
		if w.due == now && w.rampTo < now {
			after = w.stop
		}
		w.spent[w.limit] += passed
		for _, r := range w.resources() {
			f.used[r] += (*remaining - after) * w.per(r)
		}
		*remaining = after
		if remaining == &w.missing && after == 0 {
			w.rampTo = now // its blocks start here
		}
	}
}

// settle ends the phases that are due and returns the flows that have ended,
// in order of priority and start.
func (f *fluid) settle() []flow {
	f.done = f.done[:0]
	f.dirty = true
	kept := 0
	over := f.now == LastTime
	for i := range f.flows {
		w := &f.flows[i]
		if over || w.due <= f.now && w.rampTo < f.now {
			if over || w.drained() && f.now >= w.soonest() {
				f.done = append(f.done, *w)
				continue
			}
			w.held = 0 // given out anew by priority, the tail's to itself first
		}
		if kept != i {
			f.flows[kept] = *w
		}
		kept++
	}
	f.flows = f.flows[:kept]
	for i := range f.done {
		f.succeed(&f.done[i])
	}
	ended := f.done[:0]
	for _, w := range f.done {
		if w.then == nil {
			ended = append(ended, w)
			continue
		}
		f.seq++
		f.addKernel(flow{id: w.id, seq: f.seq, prio: w.prio, line: noLine, rampTo: never, ramp: Ramp, due: never, since: f.now, spent: w.spent}, w.then)
	}
	f.done = ended
	return f.done
}

// succeed lets the next in line take the place of a flow that has ended.
func (f *fluid) succeed(w *flow) {
	if w.line != noLine {
		if e := &f.lines[w.line]; e.next < len(e.wait) {
			f.insert(e.wait[e.next])
			e.next++
		} else {
			e.busy, e.wait, e.next = false, e.wait[:0], 0
		}
		return
	}
	if w.capacity == 0 {
		return
	}
	f.kernels--
	if len(f.backlog) > 0 {
		f.kernels++
		f.insert(f.backlog.Pop())
	}
}

// soonest is before when a kernel's slowest block cannot have ended.
func (w *flow) soonest() Time {
	if !w.begun || w.slowest == 0 {
		return 0
	}
	return w.rampTo.Plus(w.slowest)
}

// rebalance gives out slots, computes rates and the next time something is
// due; it returns the tasks that got their first slot.
func (f *fluid) rebalance() []TaskID {
	f.dirty = false
	urgent := f.grant()
	var want supplies
	for i := range f.flows {
		w := &f.flows[i]
		w.solo, w.limit = f.alone(w)
		for _, r := range w.resources() {
			want[r] += w.solo * w.per(r)
		}
	}
	var share supplies
	for r := range share {
		share[r] = f.device[r] / want[r]
	}
	f.due = never
	for i := range f.flows {
		w := &f.flows[i]
		f.ration(w, &share)
		f.schedule(w, urgent)
		f.due = min(f.due, w.due)
	}
	return f.ids
}

// ration sets a flow's rate: one that waits for several resources waits for the
// scarcest.
func (f *fluid) ration(w *flow, share *supplies) {
	least := 1.0
	for _, r := range w.resources() {
		// A share of almost 1 is rounding: it is the limit already.
		if share[r] < least && w.solo > 0 {
			if least = share[r]; least < 1-slack {
				w.limit = r
			}
		}
	}
	w.rate = w.solo * least
}

// grant hands free slots to kernels in order and returns the priority of the
// first that wants more than it got.
func (f *fluid) grant() (urgent int32) {
	f.ids = f.ids[:0]
	urgent = math.MaxInt32
	free := 1.0
	for i := range f.flows {
		if w := &f.flows[i]; w.capacity > 0 {
			free -= w.held / w.capacity
		}
	}
	for i := range f.flows {
		w := &f.flows[i]
		if w.capacity > 0 {
			want := min(max(1, math.Ceil(w.left-slack)), w.capacity) - w.held
			take := min(want, math.Floor(free*w.capacity+slack))
			if want > 0 && take < want {
				urgent = min(urgent, w.prio)
			}
			if want <= 0 || take <= 0 {
				continue
			}
			w.held += take
			w.base = w.left
			free -= take / w.capacity
		}
		if !w.begun {
			w.begun = true
			w.rampTo = f.now.Plus(w.latency)
			f.ids = append(f.ids, w.id)
		}
	}
	return urgent
}

// alone is the rate of a flow with its slots if nothing else ran, in blocks
// per ps, and what limits it.
func (f *fluid) alone(w *flow) (rate float64, limit Limit) {
	switch {
	case !w.begun || w.capacity > 0 && w.held == 0:
		return 0, Queued
	case w.rampTo > f.now:
		return 0, w.ramp
	case w.drained():
		return 0, Latency
	}
	touched := float64(f.profile.SMs)
	rate, limit = w.blocks, Latency // no flow is over in less than 1 ps
	switch {
	case w.missing > 0:
		rate, limit = w.missing, Faults
	case w.capacity > 0:
		touched = min(w.held, touched)
		rate = min(rate, w.held/w.turn)
	}
	for _, r := range w.resources() {
		if most := min(f.device[r], f.perSM[r]*touched) / w.per(r); most < rate {
			rate, limit = most, r
		}
	}
	return rate, limit
}

// schedule sets where a flow's phase stops and when it gets there.
func (f *fluid) schedule(w *flow, urgent int32) {
	switch {
	case w.rampTo > f.now:
		w.stop, w.due = *w.remaining(), w.rampTo
		if !w.begun {
			w.due = never
		}
		return
	case w.drained():
		w.stop, w.due = 0, max(f.now, w.soonest())
		return
	case w.rate == 0:
		w.stop, w.due = *w.remaining(), never
		return
	case w.capacity == 0 || w.missing > 0:
		w.stop = 0
	default:
		w.stop = w.phaseEnd(w.prio > urgent)
	}
	w.due = f.now.Plus(timeOf(math.Ceil((*w.remaining()-w.stop)/w.rate - rounding)))
}

// phaseEnd is how many blocks are left when the phase is over: at the end of
// the full waves, or at the end of this wave if the kernel must yield.
func (w *flow) phaseEnd(yield bool) float64 {
	waves := math.Floor(w.base/w.held + slack)
	if waves == 0 {
		return 0 // the tail
	}
	tail := max(0, w.base-waves*w.held)
	if tail < slack*w.base {
		tail = 0
	}
	if !yield {
		return tail
	}
	gone := math.Floor((w.base-w.left)/w.held + slack)
	return max(tail, w.base-(gone+1)*w.held)
}
