package interp

import (
	"sort"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// visit calls use for each register that the item reads, and def for each that it
// writes. A guarded definition is also a use: other lanes keep the old value.
func (it *item) visit(use, def func(s *slot)) {
	src := func(s *slot) {
		if *s != noSlot {
			use(s)
		}
	}
	dst := func(s *slot) {
		if *s == noSlot {
			return
		}
		// Lanes without the guard keep the old value, so it must be alive.
		if it.guard != noSlot {
			use(s)
		}
		def(s)
	}
	src(&it.a)
	src(&it.b)
	src(&it.c)
	src(&it.guard)
	if it.x != nil {
		src(&it.x.p)
		src(&it.x.e)
		src(&it.x.members)
		for i := range it.x.sources {
			src(&it.x.sources[i].reg)
		}
		for i := range it.x.elems {
			if it.reads {
				src(&it.x.elems[i].reg)
			} else {
				dst(&it.x.elems[i].reg)
			}
		}
		dst(&it.x.d2)
	}
	if it.reads && it.isStore() {
		src(&it.d)
	} else {
		dst(&it.d)
	}
}

// isStore distinguishes a store, whose d is a source, from a pack, whose elements are.
func (it *item) isStore() bool { return it.x != nil && it.x.kind == stores }

// finish builds the kernel from the items. The order matters: segments need the items'
// endings, liveness the segments, slots the intervals, and loops the slots.
func (l *lowering) finish() {
	l.results()
	l.fuse()
	l.uniforms()
	l.cutSegments()
	l.reconverge()
	live := l.liveness()
	l.assign(live)
	k := l.k
	k.sharedStatic = l.sharedEnd
	k.localSize = roundUp(max(l.maxLocal, l.localEnd), 8)
	l.placeUniforms()
	k.loops = l.loops()
	l.patch()
}

// interval is the range of items in which a register may be alive, both ends included.
type interval struct {
	reg        slot
	start, end int32
}

// liveness returns the interval of each temporary register. It solves backward data flow
// over segments, iterated to a fixpoint:
//
//	in[s] = (out[s] - definitions) + uses        out[s] = union of in[t] over successors t
//
// Segments are visited from the last to the first, in the direction of the flow. Registers
// alive at the entry start at -1.
func (l *lowering) liveness() []interval {
	n := len(l.k.segments)
	in := make([]dense.Set, n) // of registers
	for i := range in {
		in[i] = dense.NewSet(len(l.vregs))
	}
	out := dense.NewSet(len(l.vregs))
	for changed := true; changed; {
		changed = false
		for i := n - 1; i >= 0; i-- {
			l.liveOut(i, in, out)
			l.backward(i, out, nil)
			for w := range out {
				if out[w] != in[i][w] {
					in[i][w], changed = out[w], true
				}
			}
		}
	}
	l.alive = in
	return l.intervals(in, out)
}

// liveOut sets out to the registers alive at the end of segment i.
func (l *lowering) liveOut(i int, in []dense.Set, out dense.Set) {
	clear(out)
	for _, s := range l.k.segments[i].flowsTo() {
		if int(s) < len(in) {
			out.Unite(in[s])
		}
	}
}

// flowsTo lists the successors of a segment, including those of guarded exits.
func (s *segment) flowsTo() []int32 {
	if s.ending == exits && s.guard == noSlot || s.ending == returns {
		return nil
	}
	return s.successors(-1)
}

// span returns the items of segment i.
func (l *lowering) span(i int) (first, end int) {
	if i > 0 {
		first = l.endings[i-1] + 1
	}
	if i < len(l.endings) {
		return first, l.endings[i] + 1
	}
	return first, first
}

// backward transforms the set of live registers from the end of segment i to its start. It
// calls at for each item, with the registers that are alive before it.
func (l *lowering) backward(i int, live dense.Set, at func(item int, live dense.Set)) {
	first, end := l.span(i)
	// Definitions end the life of a register, uses begin it; of one item, the definitions
	// are removed first.
	for j := end - 1; j >= first; j-- {
		it := &l.items[j]
		it.visit(func(*slot) {}, func(s *slot) { live.Remove(int(*s)) })
		it.visit(func(s *slot) {
			if l.vregs[*s].home == temporary {
				live.Add(int(*s))
			}
		}, func(*slot) {})
		if at != nil {
			at(j, live)
		}
	}
}

// intervals computes the live interval of each register from the live sets at the
// segments' starts, by one backward walk over each segment. in is indexed by
// segment; live is scratch.
func (l *lowering) intervals(in []dense.Set, live dense.Set) []interval {
	list := make([]interval, len(l.vregs))
	for r := range list {
		list[r] = interval{slot(r), 1<<31 - 1, -2}
	}
	extend := func(s slot, at int) {
		list[s].start = min(list[s].start, int32(at))
		list[s].end = max(list[s].end, int32(at))
	}
	each := func(b dense.Set, at int) {
		for r := b.Next(0); r >= 0; r = b.Next(r + 1) {
			extend(slot(r), at)
		}
	}
	for i := range in {
		first, end := l.span(i)
		if i == 0 {
			each(in[0], -1)
		}
		// A register that is alive at an end of the segment is alive at that item, used
		// there or not.
		each(in[i], first)
		l.liveOut(i, in, live)
		each(live, end-1)
		for j := first; j < end; j++ {
			touch := func(s *slot) {
				if l.vregs[*s].home == temporary {
					extend(*s, j)
				}
			}
			l.items[j].visit(touch, touch)
		}
	}
	return list
}

// assign allocates temporaries in the register file by linear scan (Poletto & Sarkar,
// "Linear Scan Register Allocation", 1999), for each width separately, so that a kernel's
// registers stay in the cache:
//
//	item     0   1   2   3   4   5
//	%r1      ├───────┤                    slot 0
//	%r2          ├───────────┤            slot 128
//	%r3                  ├───────┤        slot 0: %r1 has ended before
//
// The cost is O(n log n) for the sort plus O(n·a) for the list of active intervals, of
// which there are a. Registers whose intervals touch do not share a slot, since warp-wide
// operations read all lanes of a source after they have written some lanes of a result.
func (l *lowering) assign(list []interval) {
	used := make([]interval, 0, len(list))
	for _, iv := range list {
		if iv.end >= iv.start {
			used = append(used, iv)
		}
	}
	sort.Slice(used, func(i, j int) bool {
		if used[i].start != used[j].start {
			return used[i].start < used[j].start
		}
		return used[i].reg < used[j].reg
	})
	s := linearScan{l: l, free: map[int][]slot{}}
	for _, iv := range used {
		s.place(iv)
	}
	l.k.fileSize = int(s.end)
	l.k.predCount = int(s.preds)
	l.k.registers = widest(s.maxWords)
	l.assignSaves(used)
	l.assignClears(used)
}

// assignSaves lists for each routine the registers that it writes. A call saves them.
func (l *lowering) assignSaves(used []interval) {
	for _, r := range l.k.routines {
		seen := map[element]bool{}
		for _, iv := range used {
			v := l.vregs[iv.reg]
			e := element{v.at, v.size}
			if int(iv.start) < r.firstItem || int(iv.start) >= r.endItem || seen[e] {
				continue
			}
			seen[e] = true
			if v.size == 0 {
				r.preds = append(r.preds, v.at)
			} else {
				r.saves = append(r.saves, e)
			}
			r.frame += max(v.size, 4)
		}
		const linkage = 16 // the return address and the caller's frame
		r.frame = roundUp(r.frame+linkage, frameAlign)
	}
}

// linearScan is the state of assign.
type linearScan struct {
	l          *lowering
	active     []interval     // by end
	free       map[int][]slot // by size: slots that no active interval has
	end, preds slot           // bytes and predicates allocated
	words      int            // 32-bit registers in use
	maxWords   int            // the largest value of words
}

// place frees the slots of intervals that have ended before iv, and assigns iv one.
func (s *linearScan) place(iv interval) {
	for len(s.active) > 0 && s.active[0].end < iv.start {
		old := &s.l.vregs[s.active[0].reg]
		s.free[old.size] = append(s.free[old.size], old.at)
		s.words -= words(old.size)
		s.active = s.active[1:]
	}
	v := &s.l.vregs[iv.reg]
	v.at = s.take(v.size)
	s.words += words(v.size)
	s.maxWords = max(s.maxWords, s.words)
	// active remains sorted by the ends of the intervals.
	i := sort.Search(len(s.active), func(i int) bool { return s.active[i].end > iv.end })
	s.active = append(s.active, interval{})
	copy(s.active[i+1:], s.active[i:])
	s.active[i] = iv
}

// words returns the number of 32-bit registers of a value. Predicates have their own
// registers.
func words(size int) int { return (size + 3) / 4 }

// take returns a free slot of the given size, or a new one.
func (s *linearScan) take(size int) (at slot) {
	if list := s.free[size]; len(list) > 0 {
		s.free[size] = list[:len(list)-1]
		return list[len(list)-1]
	}
	if size == 0 {
		s.preds++
		return s.preds - 1
	}
	at = s.end
	s.end += slot(size * lanes)
	return at
}

// assignClears lists the registers that must be zero at the start of a block. A program
// that reads a register before writing it then behaves the same in every run.
func (l *lowering) assignClears(used []interval) {
	seen := map[element]bool{}
	for _, iv := range used {
		v := l.vregs[iv.reg]
		e := element{v.at, v.size}
		if iv.start >= 0 && !l.k.shuffles || seen[e] {
			continue
		}
		seen[e] = true
		if v.size == 0 {
			l.k.clearPreds = append(l.k.clearPreds, v.at)
		} else {
			l.k.clearRegs = append(l.k.clearRegs, e)
		}
	}
}

// placeUniforms places launch constants after the temporaries. The register file of a warp
// is then:
//
//	temporaries, by linear scan │ constants, parameters, special registers │ scratch of warp-wide operations
func (l *lowering) placeUniforms() {
	k := l.k
	if k.stacks = k.stacks || len(k.routines) > 0; k.stacks {
		l.value(uniformKey{home: framePointer, size: 8}) // calls need it even if no variable is local
	}
	base := (l.sharedEnd + max(l.dynAlign, 16) - 1) &^ (max(l.dynAlign, 16) - 1)
	if l.dynAlign != 0 {
		k.sharedStatic = base
	}
	for i := range l.vregs {
		v := &l.vregs[i]
		if v.home == temporary {
			continue
		}
		if v.size == 0 {
			v.at = slot(k.predCount)
			k.predCount++
			k.constants = append(k.constants, constant{v.at, 0, v.bits & 1})
			continue
		}
		v.at = slot(k.fileSize)
		k.fileSize += v.size * lanes
		l.placeUniform(v, uint64(base))
	}
	if k.warpSyncs {
		k.scratch, k.scratchPreds = slot(roundUp(k.fileSize, 8)), slot(k.predCount)
		k.fileSize, k.predCount = int(k.scratch)+scratchSize, k.predCount+3
	}
	// Whole words, and at least one, since prepare takes the address of the first.
	k.fileSize = (k.fileSize + 8) &^ 7
}

// placeUniform records how the register of a launch constant is filled. dynamic is
// the start of dynamic shared memory.
func (l *lowering) placeUniform(v *vreg, dynamic uint64) {
	k := l.k
	switch v.home {
	case immediate:
		k.constants = append(k.constants, constant{v.at, v.size, v.bits})
	case dynamicBase:
		k.constants = append(k.constants, constant{v.at, v.size, v.bits + dynamic})
	case parameter:
		k.paramRegs = append(k.paramRegs, paramReg{v.at, v.size, v.offset, v.read, v.signed})
	case framePointer:
		k.framePointer = v.at
	case specialValue:
		if v.special >= ctaidX {
			k.blockSpecials = append(k.blockSpecials, specialReg{v.at, v.size, v.special})
		} else {
			k.launchSpecial = append(k.launchSpecial, specialReg{v.at, v.size, v.special})
		}
	}
}

// patch replaces register numbers by slots, in the items and in the records that were
// copied from them.
func (l *lowering) patch() {
	k := l.k
	next := 0
	for i := range l.items {
		it := &l.items[i]
		if it.free {
			continue
		}
		place := func(s *slot) { *s = l.vregs[*s].at }
		it.eachOperand(place)
		k.code[next].d, k.code[next].a, k.code[next].b, k.code[next].c = it.d, it.a, it.b, it.c
		k.code[next].guard = it.guard
		next++
	}
	for i := range l.endings {
		if s := &k.segments[i]; s.last >= 0 {
			s.guard = k.code[s.last].guard
		}
	}
}

// eachOperand calls f for each operand of the item exactly once.
func (it *item) eachOperand(f func(s *slot)) {
	list := []*slot{&it.a, &it.b, &it.c, &it.d, &it.guard}
	if it.x != nil {
		list = append(list, &it.x.p, &it.x.e, &it.x.members, &it.x.d2)
		for i := range it.x.elems {
			list = append(list, &it.x.elems[i].reg)
		}
		for i := range it.x.sources {
			list = append(list, &it.x.sources[i].reg)
		}
	}
	for _, s := range list {
		if *s != noSlot {
			f(s)
		}
	}
}
