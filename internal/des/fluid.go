package des

import (
	"fmt"
	"math"
)

// The fluid model: kernels (and device-to-device copies) that run together are
// liquids flowing at rates that change only when one of them starts, ends or
// changes phase.
//
// A kernel's blocks run in slots. With s slots out of the SMs x PerSM that it
// could fill alone, and m = min(s, SMs) multiprocessors touched, it finishes
//
//	min( s / BlockCycles,            latency: every slot turns over in one block's latency
//	     4 m / (Issue/Blocks),       issue: four warp schedulers on each multiprocessor
//	     BW(m) / (Bytes/Blocks) )    DRAM: BW(m) = min(device, m x what one multiprocessor draws)
//
// blocks per unit of time. The full waves, floor(Blocks/s) of them, are one
// phase; the tail wave of Blocks mod s blocks is another that holds only as
// many slots as it has blocks, so that a successor may fill the rest. A kernel
// alone that is bound by latency thus takes BlockCycles x ceil(Blocks/s).
//
//	slots │ A A A A A A A A A B B     B starts in the
//	      │ A A A A A A B B B B B     tail of A
//	      └──────────────────────► time
//	        └ waves ─┘└tail┘
//
// Slots go to kernels by priority, then in order of start, and are never taken
// from blocks that run; but a kernel with full waves left hands its slots back
// at the end of a wave when one of higher priority wants them, as the block
// scheduler of the hardware does. When the demands for issue slots or for DRAM
// add up to more than there is, all who use it slow down in proportion. That
// is what a FIFO in front of a resource does, and unlike max-min fairness it
// needs one pass.
//
// What this approximates is a scheduler that hands single blocks to slots. Over
// 500 random mixtures of up to 12 kernels the makespans differ by 2 % in the mean
// and 19 % at worst (TestFluidIsCloseToSchedulingBlockByBlock); an event costs the
// number of running kernels, not of blocks.

// slack absorbs rounding in counts of blocks and slots.
const slack = 1e-9

// flow is one running kernel or copy.
type flow struct {
	id   TaskID
	seq  int64 // order of start
	prio int32
	// capacity is how many slots it could fill on an empty device; 0 for a copy, which needs none.
	capacity float64
	blocks   float64
	latency  Time    // of a slot's first block: launch ramp
	turn     float64 // ps one block takes alone
	issue    float64 // issue cycles per block
	bytes    float64 // DRAM bytes per block

	left   float64 // blocks not finished
	held   float64 // slots
	base   float64 // left when held last changed: waves are counted from there
	stop   float64 // left at the end of this phase
	solo   float64 // blocks per ps if it had its slots and nothing else ran
	rate   float64 // blocks per ps
	begun  bool
	rampTo Time // no block finishes before this
	due    Time // end of the phase at this rate
}

// before orders flows by priority, then by start.
func (a flow) before(b flow) bool {
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	return a.seq < b.seq
}

// fluid is the set of flows of one device.
type fluid struct {
	profile *Profile
	issue   float64 // issue cycles per ps of the whole device
	perSM   float64 // the same of one multiprocessor
	bw, sm  float64 // DRAM bytes per ps: device, one multiprocessor

	flows   []flow     // by priority, then seq; at most profile.MaxKernels
	backlog heap[flow] // those that wait for a place in flows
	seq     int64
	now     Time // flows' left is as of now
	due     Time // earliest due
	dirty   bool // flows changed since rates were computed
	ids     []TaskID
}

func newFluid(p *Profile) fluid {
	cycles := p.ClockMHz * 1e6 / 1e12 // per ps
	perSM := issuePerSM * cycles
	return fluid{
		profile: p, due: never,
		issue: perSM * float64(p.SMs), perSM: perSM,
		bw: p.MemoryGBps * 1e9 / 1e12, sm: p.SMGBps * 1e9 / 1e12,
	}
}

// add enters a kernel or copy that starts now; rates follow in rebalance.
func (f *fluid) add(id TaskID, prio int32, d Demand) {
	f.seq++
	w := flow{id: id, seq: f.seq, prio: prio, rampTo: never, due: never}
	if d.Kind == CopyOn {
		// A copy is a flow of bytes; it holds no slots.
		w.blocks, w.bytes, w.latency = max(d.Bytes, 1), 1, f.profile.CopyOnLatency
	} else {
		if !(d.Blocks >= 1) || !(d.PerSM >= 1) {
			panic(fmt.Sprintf("BUG: kernel task %d has %v blocks, %v per multiprocessor", id, d.Blocks, d.PerSM))
		}
		w.capacity = float64(f.profile.SMs) * math.Floor(d.PerSM)
		w.blocks, w.latency = d.Blocks, f.profile.KernelRamp
		w.turn = d.BlockCycles * 1e6 / f.profile.ClockMHz
		w.issue, w.bytes = d.Issue/d.Blocks, d.Bytes/d.Blocks
	}
	w.left = w.blocks
	f.dirty = true
	if len(f.flows) == f.profile.MaxKernels {
		f.backlog.push(w)
		return
	}
	f.insert(w)
}

func (f *fluid) insert(w flow) {
	i := len(f.flows)
	f.flows = append(f.flows, w)
	for ; i > 0 && w.before(f.flows[i-1]); i-- {
		f.flows[i] = f.flows[i-1]
	}
	f.flows[i] = w
}

// advance lets everything flow at the present rates until now.
func (f *fluid) advance(now Time) {
	dt := float64(now - f.now)
	f.now = now
	if dt == 0 {
		return
	}
	for i := range f.flows {
		w := &f.flows[i]
		if w.due == now && w.rampTo < now {
			w.left = w.stop
		} else {
			w.left = max(w.left-w.rate*dt, w.stop)
		}
	}
}

// settle ends the phases that are due and returns the tasks that have ended,
// in order of priority and start.
func (f *fluid) settle() []TaskID {
	f.ids = f.ids[:0]
	f.dirty = true
	kept := f.flows[:0]
	for _, w := range f.flows {
		if w.due <= f.now && w.rampTo < f.now {
			if w.left <= slack {
				f.ids = append(f.ids, w.id)
				continue
			}
			w.held = 0 // given out anew by priority, the tail's to itself first
		}
		kept = append(kept, w)
	}
	f.flows = kept
	for len(f.flows) < f.profile.MaxKernels && len(f.backlog) > 0 {
		f.insert(f.backlog.pop())
	}
	return f.ids
}

// rebalance gives out slots, computes rates and the next time something is
// due; it returns the tasks that got their first slot.
func (f *fluid) rebalance() []TaskID {
	f.dirty = false
	urgent := f.grant()
	var issue, bytes float64
	for i := range f.flows {
		w := &f.flows[i]
		w.solo = f.alone(w)
		w.rate = w.solo
		issue += w.rate * w.issue
		bytes += w.rate * w.bytes
	}
	byIssue, byBytes := min(1, f.issue/issue), min(1, f.bw/bytes)
	f.due = never
	for i := range f.flows {
		w := &f.flows[i]
		// One that waits for two resources waits for the scarcer.
		if w.issue > 0 {
			w.rate = min(w.rate, w.solo*byIssue)
		}
		if w.bytes > 0 {
			w.rate = min(w.rate, w.solo*byBytes)
		}
		f.schedule(w, urgent)
		f.due = min(f.due, w.due)
	}
	return f.ids
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
			want := min(math.Ceil(w.left-slack), w.capacity) - w.held
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
			w.rampTo = f.now + w.latency
			f.ids = append(f.ids, w.id)
		}
	}
	return urgent
}

// alone is the rate of a flow with its slots if nothing else ran, in blocks
// per ps.
func (f *fluid) alone(w *flow) float64 {
	if w.rampTo > f.now {
		return 0
	}
	if w.capacity == 0 {
		return f.bw
	}
	if w.held == 0 {
		return 0
	}
	touched := min(w.held, float64(f.profile.SMs))
	rate := min(w.blocks, w.held/w.turn) // no kernel flows by in less than 1 ps
	rate = min(rate, f.perSM*touched/w.issue)
	return min(rate, min(f.bw, f.sm*touched)/w.bytes)
}

// schedule sets where a flow's phase stops and when it gets there.
func (f *fluid) schedule(w *flow, urgent int32) {
	switch {
	case w.rampTo > f.now:
		w.stop, w.due = w.left, w.rampTo
		if !w.begun {
			w.due = never
		}
		return
	case w.rate == 0:
		w.stop, w.due = w.left, never
		return
	case w.capacity == 0:
		w.stop = 0
	default:
		w.stop = w.phaseEnd(w.prio > urgent)
	}
	w.due = f.now + Time(math.Ceil((w.left-w.stop)/w.rate))
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
