package interp

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// engine runs blocks of one kernel, one at a time, and owns the state of a block. A launch
// uses one engine per processor, or one per block while blocks wait for each other. Engines
// are kept for the kernel's next launch, see run.
type engine struct {
	run      *run
	kernel   *Kernel
	mem      *Memory
	launch   *Launch
	params   unsafe.Pointer // parameter block
	warps    []warp
	shared   []uint64               // memory of the block
	cache    []*reach               // by access site: the allocation of its last access
	reached  []*reach               // the allocations that the launch touched, in the order of the first touch
	reachOf  map[*allocation]*reach // a map, since a kernel may follow thousands of pointers
	seen     []sighting             // by access site
	barriers [maxBarriers + 1]barrier
	watch    *watcher     // nil without Launch.Record
	tile     *sharedWatch // nil if races in shared memory are not detected
	ownTile  sharedWatch

	block           [3]uint32
	threads         uint32 // of a block
	alive           int32  // threads of the block that have not exited
	steps           int64  // warp instructions the block may still issue
	count           counters
	visits          []int64 // by segment: the number of warps that ran it
	gauge           gauge
	fault           *Fault
	printed         transcript
	skipsIterations bool    // iterations of loops may be skipped
	drewNumber      bool    // a warp's turn ended because it took a number from a counter
	polling         bool    // the block waited at the end of its last turn
	polls           []int64 // visits before a turn that may only poll

	// For concurrent blocks.
	tracking bool   // record which bytes are touched
	start    func() // the body of its goroutine; stored, as a method value would be allocated for each launch
	saved    []savedPage
	updates  []update
	spans    []updateSpan
	applied  int // spans
}

// newEngine returns an engine without a launch.
func newEngine() *engine {
	e := &engine{reachOf: map[*allocation]*reach{}}
	e.start = func() {
		defer e.run.wait.Done()
		e.work()
	}
	return e
}

// counters are Stats as integers, whose sums do not depend on the order of blocks.
type counters struct {
	blocks, warps, insts, laneInsts, flops, read, written, atomics int64

	skipped int64 // of insts, those of skipped iterations

	path    moment // the sum over all blocks
	slowest moment // of one block
}

// add adds the counters of another engine.
func (c *counters) add(o *counters) {
	c.blocks += o.blocks
	c.warps += o.warps
	c.insts += o.insts
	c.laneInsts += o.laneInsts
	c.flops += o.flops
	c.skipped += o.skipped
	c.path = c.path.add(o.path)
	c.slowest = later(c.slowest, o.slowest)
	c.read += o.read
	c.written += o.written
	c.atomics += o.atomics
}

// prepare initialises e for the blocks of a launch: warps, constants, parameters and the
// special registers that are the same for all blocks. Buffers of earlier launches are
// reused; tracking is set for concurrent blocks.
func (e *engine) prepare(r *run, tracking bool) {
	k, l := r.kernel, &r.launch
	e.run, e.kernel, e.mem, e.launch, e.params = r, k, r.mem, l, unsafe.Pointer(&r.params[0])
	e.skipsIterations = l.Sample > 0
	e.count, e.fault, e.tracking, e.watch, e.tile = counters{}, nil, tracking, nil, nil
	e.printed.reset()
	e.updates, e.spans, e.applied = e.updates[:0], e.spans[:0], 0
	e.threads = l.Block[0] * l.Block[1] * l.Block[2]
	e.shared = grow(e.shared, int(k.sharedStatic+l.Shared+7)/8+1)
	e.cache, e.seen = resized(e.cache, k.sites), resized(e.seen, k.sites)
	e.visits = append(e.visits[:0], make([]int64, len(k.segments))...)
	e.gauge.prepare(l, k.sharesWork)
	e.resize(int(e.threads+lanes-1) / lanes)
	for i := range e.warps {
		e.warps[i].prepare(e, uint32(i))
	}
}

// grow returns words with length n. Only new elements are zeroed.
func grow(words []uint64, n int) []uint64 {
	if cap(words) < n {
		return make([]uint64, n)
	}
	return words[:n]
}

// resize sets the number of warps, and keeps the memory of those beyond it.
func (e *engine) resize(n int) {
	for len(e.warps) < n {
		e.warps = append(e.warps, warp{})
	}
	e.warps = e.warps[:n]
}

// reserve connects the warp to its engine, and allocates its registers and local memory
// unless it has enough.
func (w *warp) reserve(e *engine, index uint32) {
	k := e.kernel
	w.eng, w.kernel, w.index, w.cache, w.tracking = e, k, index, e.cache, e.tracking
	if len(w.file) < k.fileSize/8 {
		w.file = make([]uint64, k.fileSize/8)
		w.regs = unsafe.Pointer(&w.file[0])
		w.preds = make([]uint32, k.predCount)
		w.localStride = roundUp(k.localSize, frameAlign)
		w.localMem = make([]uint64, w.localStride*lanes/8+1)
		w.local = unsafe.Pointer(&w.localMem[0])
	}
	w.shared = unsafe.Pointer(&e.shared[0])
	w.sharedSize = uint64(k.sharedStatic) + uint64(e.launch.Shared)
}

// outcome is the state of a block at the end of its turn.
type outcome uint8

// The outcomes of a turn.
const (
	ended outcome = iota // all threads have exited, or the engine has a fault
	waits                // every warp polls, and memory has not changed
	busy                 // the warps are in long loops, or yield before they draw a number from a counter
)

// maxTurns is the number of turns of the warps after which a block's turn ends. It is
// long enough that a block that only computes completes before the next one begins.
const maxTurns = 64

// turn runs the block's warps until the block has ended or its turn is over. Warps run in
// rotation, each until it blocks. The turn ends if
//
//	every warp only polls                  the block waits for another one
//	every warp spins, maxTurns times       the warps are in long loops
//	a warp drew a number from a counter    so that blocks share the work evenly
func (e *engine) turn() outcome {
	e.drewNumber = false
	for turns := 0; turns < maxTurns && !e.drewNumber; {
		before := e.count
		if e.polling {
			e.polls = append(e.polls[:0], e.visits...)
		}
		ran, idle, spun := false, true, true
		for i := range e.warps {
			w := &e.warps[i]
			if !w.runnable() {
				continue
			}
			if w.run(); w.fault != nil {
				e.fault = w.fault
				return ended
			}
			ran, idle, spun = true, idle && w.idle, spun && w.spun
		}
		switch {
		case !ran:
			e.finish()
			return ended
		case idle:
			if e.polling {
				e.uncount(&before)
			}
			e.polling = true
			return waits
		case spun:
			turns++
		}
		e.polling = false
	}
	return busy
}

// uncount removes the cost of a turn that only polled. The number of such turns depends
// on the scheduling of blocks, not on the kernel.
func (e *engine) uncount(before *counters) {
	e.count = *before
	copy(e.visits, e.polls)
	for i := range e.warps {
		if w := &e.warps[i]; w.runnable() {
			w.clock = w.began
		}
	}
}

// finish ends a block that has no running warps.
func (e *engine) finish() {
	if e.alive > 0 {
		e.fault = e.stuck()
		return
	}
	var path moment
	for i := range e.warps {
		path = later(path, e.warps[i].clock)
	}
	e.count.path = e.count.path.add(path)
	e.count.slowest = later(e.count.slowest, path)
}

// begin resets the state of a block. Registers are cleared only if the kernel may read them
// before it writes them. Shared and local memory are always zero at the start, so that a
// program with an uninitialised read behaves the same in every run.
func (e *engine) begin(block [3]uint32) {
	e.block = block
	e.gauge.begin(e.linearBlock())
	if e.tile != nil {
		e.tile.begin()
	}
	e.alive = int32(e.threads)
	e.barriers = [maxBarriers + 1]barrier{}
	e.steps = e.launch.StepLimit
	e.polling = false
	clear(e.seen) // from another block, or from an abandoned attempt of this one
	clear(e.shared)
	e.count.blocks++
	e.count.warps += int64(len(e.warps))
	for i := range e.warps {
		e.warps[i].begin()
	}
}

// linearBlock returns the index of the engine's block in grid order.
func (e *engine) linearBlock() int64 {
	g := e.launch.Grid
	return (int64(e.block[2])*int64(g[1])+int64(e.block[1]))*int64(g[0]) + int64(e.block[0])
}

// begin resets the warp for a new block: one fragment with all lanes, no calls, and
// the registers that depend on the block.
func (w *warp) begin() {
	k := w.kernel
	w.exited, w.clock, w.carry, w.fault, w.polled, w.drewNumber = ^w.present, moment{}, 0, nil, nil, false
	// The memory of the first fragment's stack is kept.
	stack := []entry(nil)
	if cap(w.frags) > 0 {
		stack = w.frags[:1][0].stack[:0]
	}
	if w.eng.skipsIterations {
		w.loopStates = resized(w.loopStates, len(k.loops))
		for i := range w.loopStates {
			w.loopStates[i].taken, w.loopStates[i].attempt = 0, warmIterations
		}
	}
	w.frags = append(w.frags[:0], fragment{entry: entry{0, noReconvergence, w.present}, stack: stack})
	for _, s := range k.blockSpecials {
		fill(w, s.at, s.size, uint64(s.kind.blockValue(w.eng)))
	}
	for _, s := range k.clearRegs {
		clear(w.file[s.reg/8 : (int(s.reg)+lanes*s.size)/8])
	}
	for _, p := range k.clearPreds {
		w.preds[p] = 0
	}
	clear(w.localMem)
	if k.asyncCopies {
		w.async, w.groups = w.async[:0], [lanes]uint32{}
	}
	w.beginCalls()
}

// charge adds the cost of a segment before it runs, for the lanes in mask. It fails the
// launch at the step limit.
func (e *engine) charge(w *warp, pc int32, mask uint32) {
	s := &w.kernel.segments[pc]
	// Work is computed from the visits at the end of the launch.
	e.visits[pc]++
	e.count.insts += s.insts
	active := int64(bits.OnesCount32(mask))
	e.count.laneInsts += s.insts * active
	e.count.flops += s.flops * active
	w.clock.cycles += s.path.cycles
	w.clock.trips += s.path.trips
	w.clock.barriers += s.path.barriers
	if e.steps -= s.insts; e.steps < 0 && w.fault == nil {
		// The fault names the first instruction of the segment, or its ending if it has no
		// other.
		in := s.first
		if s.first == s.end && s.last >= 0 {
			in = s.last
		}
		w.fail(Timeout, &w.kernel.code[in], bits.TrailingZeros32(mask), 0,
			fmt.Sprintf("the block issued more than %d warp instructions; raise StepLimit (Options.StepLimit of package sim) if it is not an endless loop",
				e.launch.StepLimit))
	}
}

// fail stops the launch with a fault of a lane at a record. addr is the address of an
// access, or 0. Only the first fault of a warp is kept.
func (w *warp) fail(kind FaultKind, in *inst, lane int, addr uint64, reason string) {
	if w.fault != nil {
		return
	}
	e := w.eng
	t := w.index*lanes + uint32(lane)
	b := e.launch.Block
	at := w.kernel.places[w.kernel.indexOf(in)]
	if kind == IllegalAddress && len(e.launch.Declared) > 0 {
		reason += "; the launch declares which bytes it touches, and a device may hold no others: declare all"
	}
	w.fault = &Fault{
		Kind: kind, Label: e.launch.Label, Kernel: w.kernel.name, Block: e.block,
		Thread: [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]},
		File:   w.kernel.file, Pos: at.pos, Source: w.kernel.module.Source(at.loc), Address: addr, Reason: reason,
	}
}

// indexOf returns the index of a record in the kernel's code.
func (k *Kernel) indexOf(in *inst) int {
	return int((uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&k.code[0]))) / unsafe.Sizeof(*in))
}
