package interp

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// cutSegments divides the items into segments and records. A segment starts at every branch
// target, after every ending, and at every instruction that may block. A fragment that
// waits therefore repeats nothing when it continues.
func (l *lowering) cutSegments() {
	leader, entered := l.leaders()
	k := l.k
	segmentOf := make([]int32, len(l.items)+1)
	for i := 0; i < len(l.items); {
		end := i + 1
		for end < len(l.items) && !leader[end] {
			end++
		}
		for j := i; j < end; j++ {
			segmentOf[j] = int32(len(k.segments))
		}
		l.segment(i, end, i > 0 && !entered[i] && l.items[i-1].ending == synchronise)
		i = end
	}
	segmentOf[len(l.items)] = int32(len(k.segments))
	// Control that passes the end leaves the kernel.
	k.segments = append(k.segments, segment{first: int32(len(k.code)), end: int32(len(k.code)), last: -1, ending: exits, guard: noSlot})
	k.work = append(k.work, unit.Work{})
	for i := range k.segments {
		s := &k.segments[i]
		s.next = int32(i) + 1
		switch s.ending {
		case branches, branchesByTable:
			it := &l.items[l.endings[i]]
			for _, t := range it.targets {
				s.table = append(s.table, segmentOf[it.frame.start[t]])
			}
			s.target = s.table[0]
		}
	}
	for _, r := range k.routines {
		r.entry = segmentOf[r.firstItem]
	}
	l.earlyExits()
}

// leaders returns which items start a segment, and which of them can be entered other than
// from the previous item. An item that only follows a warp-wide operation starts a segment
// but is not entered, so that the schedule continues across it.
func (l *lowering) leaders() (leader, entered []bool) {
	leader, entered = make([]bool, len(l.items)+1), make([]bool, len(l.items)+1)
	for i := range l.items {
		it := &l.items[i]
		switch it.ending {
		case branches, branchesByTable:
			for _, t := range it.targets {
				leader[it.frame.start[t]], entered[it.frame.start[t]] = true, true
			}
			leader[i+1] = true
		case exits, calls, returns:
			leader[i+1] = true
		case falls:
			leader[i+1] = leader[i+1] || it.cut
		case synchronise, barriers:
			leader[i], leader[i+1] = true, true
		}
	}
	for _, r := range l.k.routines {
		leader[r.firstItem], entered[r.firstItem] = true, true
	}
	return leader, entered
}

// segment appends a segment for items [i, end). With afterSync it follows a warp-wide
// operation, and waits for the operation's result only where that is used: the schedule
// continues.
func (l *lowering) segment(i, end int, afterSync bool) {
	k := l.k
	s := segment{first: int32(len(k.code)), last: -1, guard: noSlot}
	clock := &l.timing
	// The wait for the result is paid where it is used, not at the end of the operation's
	// segment.
	if afterSync {
		k.segments[len(k.segments)-1].path = clock.reached().minus(clock.from)
	} else {
		*clock = schedule{}
	}
	clock.from, clock.issued = clock.reached(), 0
	var work unit.Work
	for j := i; j < end; j++ {
		it := &l.items[j]
		s.insts++
		s.flops += it.cost.flops
		work.Add(&it.cost.work, 1)
		clock.add(it)
		if it.ending == falls && !it.free {
			k.code = append(k.code, it.inst)
			k.places = append(k.places, it.place)
		}
	}
	s.end = int32(len(k.code))
	s.path = clock.end().minus(clock.from)
	k.work = append(k.work, work)
	last := &l.items[end-1]
	s.ending = last.ending
	if last.ending == barriers {
		s.path.barriers++
	}
	if last.ending != falls {
		s.guard, s.neg, s.last = last.guard, last.neg, s.end
		k.code = append(k.code, last.inst)
		k.places = append(k.places, last.place)
	}
	l.endings = append(l.endings, end-1)
	k.segments = append(k.segments, s)
}

// schedule issues the instructions of a segment, each as soon as its operands are ready, as
// an assembler orders them. Independent loads overlap, wherever they stand:
//
//	cycle    0    1    …  500  504
//	ld a     ├──────────────┤
//	add c,a                 ├──►
//	ld b          ├─────────────┤
//	add d,b                     ├──►
//
// A warp issues one instruction per cycle, and a load does not pass a store before it. The
// result is the length of the critical path of one warp without contention.
type schedule struct {
	issued int64  // cycles of issue so far
	last   moment // the latest issue
	stored moment // the latest store: a load may read what it wrote
	from   moment // the time when the segment began
	ready  map[slot]moment
}

// moment is a time on the critical path of a warp: cycles, the number of round trips to
// global memory in them at their nominal length, and the number of barriers passed.
type moment struct{ cycles, trips, barriers int64 }

// later returns the later of two moments, and the one with more trips if they are
// equal.
func later(a, b moment) moment {
	if b.cycles > a.cycles || b.cycles == a.cycles && b.trips > a.trips {
		return b
	}
	return a
}

// plus returns the moment some cycles later.
func (m moment) plus(cycles int64) moment {
	m.cycles += cycles
	return m
}

// minus returns the time from o to m.
func (m moment) minus(o moment) moment {
	return moment{m.cycles - o.cycles, m.trips - o.trips, m.barriers - o.barriers}
}

// add returns the sum of two times.
func (m moment) add(o moment) moment {
	return moment{m.cycles + o.cycles, m.trips + o.trips, m.barriers + o.barriers}
}

// add issues one item.
func (c *schedule) add(it *item) {
	if c.ready == nil {
		c.ready = map[slot]moment{}
	}
	start := moment{cycles: c.from.cycles}
	if it.loads() {
		start = c.stored
	}
	it.visit(func(s *slot) { start = later(start, c.ready[*s]) }, func(*slot) {})
	issue := int64(it.cost.work.Total())
	c.issued += issue
	c.last = later(c.last, start.plus(issue))
	if it.isStore() {
		c.stored = later(c.stored, start.plus(issue))
	}
	result := start.plus(it.cost.latency)
	if it.cost.trip {
		result = result.add(moment{cycles: nominalTrip, trips: 1})
	}
	it.visit(func(*slot) {}, func(s *slot) { c.ready[*s] = result })
}

// reached returns the time at which all instructions have been issued.
func (c *schedule) reached() moment { return later(c.last, c.from.plus(c.issued)) }

// end returns the time of the last result, as the next segment may need it.
func (c *schedule) end() moment {
	end := c.reached()
	for _, t := range c.ready {
		end = later(end, t)
	}
	return end
}

// loads reports whether an item reads memory that a store may have written.
func (it *item) loads() bool { return it.x != nil && it.x.memory && it.x.kind != stores }

// earlyExits turns a branch to a bare exit into an exit. Its lanes leave at once and do
// not extend the region up to the reconvergence point.
func (l *lowering) earlyExits() {
	segs := l.k.segments
	for i := range segs {
		s := &segs[i]
		if s.ending != branches || s.target == int32(i)+1 {
			continue
		}
		if t := &segs[s.target]; t.ending == exits && t.guard == noSlot && t.first == t.end {
			s.ending = exits
		}
	}
}

// reconverge finds for each branch the segment where its sides meet: its immediate
// post-dominator, the dominator in the reversed graph. Guarded exits count as falling
// through, since lanes that have exited do not reconverge.
func (l *lowering) reconverge() {
	segs := l.k.segments
	exit := int32(len(segs))
	succs := make([][]int32, exit+1)
	for i := range segs {
		succs[i] = segs[i].successors(exit)
	}
	addLoopExits(segs, succs)
	for i, p := range dense.Dominators(exit, dense.Reversed(succs))[:exit] {
		segs[i].rpc = noReconvergence
		if (segs[i].ending == branches || segs[i].ending == branchesByTable) && p >= 0 && p < exit {
			segs[i].rpc = p
		}
	}
}

// successors lists the segments that may follow s, or exit for the end of the kernel.
func (s *segment) successors(exit int32) []int32 {
	switch {
	case s.ending == branches && s.guard == noSlot:
		return []int32{s.target}
	case s.ending == branches:
		return []int32{s.target, s.next}
	case s.ending == branchesByTable && s.guard == noSlot:
		return s.table
	case s.ending == branchesByTable:
		return append([]int32{s.next}, s.table...)
	case s.ending == exits && s.guard == noSlot, s.ending == returns:
		return []int32{exit}
	}
	return []int32{s.next}
}

// addLoopExits adds the edges of guarded exits where no other edge leads out, as
// in "for (;;) { if (done) return; … }". Without them, the segments of such a loop
// would have no post-dominator.
func addLoopExits(segs []segment, succs [][]int32) {
	exit := int32(len(segs))
	leaves := make([]bool, len(succs))
	for _, v := range dense.ReversePostOrder(exit, dense.Reversed(succs)) {
		leaves[v] = true
	}
	for i := range segs {
		if !leaves[i] && segs[i].ending == exits {
			succs[i] = append(succs[i], exit)
		}
	}
}
