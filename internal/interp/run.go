package interp

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// run is the state of a launch. It is kept with its engines for the kernel's next launch,
// so that only the first launch allocates. Every path through a launch ends in dismiss,
// which returns the engines to spare.
type run struct {
	mu          sync.Mutex // locked during the launch
	kernel      *Kernel
	mem         *Memory
	launch      Launch
	params      []uint64
	blocks      int64     // blocks in the grid
	toRun       int64     // blocks to run, fewer than blocks when sampling
	drawn       int64     // numbers that a sample drew from counters
	blockWeight float64   // the number of blocks that each block represents; 1 unless an ordered kernel is sampled
	engines     []*engine // in use
	spare       []*engine
	touched     []Touch
	tallies     []tally
	extents     []Extent

	// For blocks in grid order.
	resident []*engine // engines whose blocks have started and not ended
	free     []*engine // engines whose block has ended

	// For concurrent blocks.
	chunk     int64 // blocks that an engine takes at once
	next      atomic.Int64
	stop      atomic.Int64 // blocks from this one on are not needed
	abandoned atomic.Bool
	wait      sync.WaitGroup
	undo      undo
	pool      pool

	failing sync.Mutex
	fault   *Fault
}

// engine returns another engine for the launch.
func (r *run) engine(tracking bool) *engine {
	var e *engine
	if n := len(r.spare); n > 0 {
		e, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		e = newEngine()
	}
	r.engines = append(r.engines, e)
	e.prepare(r, tracking)
	if rec := r.launch.Record; rec != nil {
		e.watch = rec.watcher(r.kernel, tracking)
		e.watchShared(rec.Races)
	}
	return e
}

// dismiss marks all engines as unused.
func (r *run) dismiss() {
	for _, e := range r.engines {
		e.forget()
	}
	r.spare = append(r.spare, r.engines...)
	r.engines = r.engines[:0]
}

// runConcurrently runs the blocks on n goroutines. It returns false if they must be run
// again in grid order; memory is then restored.
//
// The scheme is speculative execution with an undo log, as in software transactional
// memory. Engines take chunks of blocks in grid order, record what they touch, and save a
// page before they first store to it. When all have ended, clash decides whether the order
// could have mattered. The cost of an attempt that fails is that of the launch, hence
// clashBackoff.
//
// Races between blocks of the kernel are races of these goroutines too, on words of memory
// without pointers. The functions that access these words are hidden from Go's race
// detector.
func (r *run) runConcurrently(n int) bool {
	r.next.Store(0)
	r.stop.Store(r.toRun)
	r.abandoned.Store(false)
	r.pool.opened.Store(0)
	// Adjacent blocks share pages, so chunks of blocks cost less than single
	// ones. Eight chunks for each worker balance the load.
	r.chunk = max(1, r.toRun/int64(8*n))
	for range n {
		r.engine(true)
	}
	for _, e := range r.engines[1:] {
		r.wait.Add(1)
		go e.start()
	}
	r.engines[0].work()
	r.wait.Wait()
	good := !r.abandoned.Load() && !r.clash()
	if good && r.fault == nil {
		r.applyUpdates()
	}
	for _, e := range r.engines {
		e.release(!good)
	}
	r.kernel.backoff.record(good)
	if !good {
		r.fault = nil
		r.dismiss()
		if rec := r.launch.Record; rec != nil {
			rec.release()
		}
	}
	return good
}

// work runs chunks of blocks until none is left, or until a fault in an earlier block
// makes the later ones unnecessary.
func (e *engine) work() {
	r := e.run
	for {
		end := r.next.Add(r.chunk)
		for i := end - r.chunk; i < end; i++ {
			if i >= r.stop.Load() {
				return
			}
			e.begin(r.block(i))
			result := busy
			for result == busy {
				result = e.turn()
			}
			if result == waits {
				r.abandon()
				return
			}
			if e.fault != nil {
				r.fail(i, e.fault)
				return
			}
			e.endUpdates(i)
		}
	}
}

// abandon ends the attempt to run the blocks concurrently.
func (r *run) abandon() {
	r.abandoned.Store(true)
	r.stop.Store(0)
}

// fail keeps the fault of the first faulty block. Blocks are assigned in order, so
// every block before it runs to its end.
func (r *run) fail(i int64, f *Fault) {
	r.failing.Lock()
	defer r.failing.Unlock()
	if i < r.stop.Load() {
		r.stop.Store(i)
		r.fault = f
	}
}

// block returns the position in the grid of run i.
func (r *run) block(i int64) [3]uint32 {
	if r.toRun < r.blocks {
		i = r.pick(i)
	}
	return r.at(i)
}

// at returns the position of block i of the grid.
func (r *run) at(i int64) [3]uint32 {
	x, y := int64(r.launch.Grid[0]), int64(r.launch.Grid[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

// pick returns block i of a sample: one of each of equal parts of the grid, at a
// pseudorandom position that depends only on i. Blocks at the same position of all parts
// could be one column of the grid.
func (r *run) pick(i int64) int64 {
	at := r.part(i)
	return at + int64(mix(uint64(i)+1)%uint64(r.part(i+1)-at))
}

// part returns the first block of part i, where the grid is cut into toRun equal parts. The
// product has 128 bits.
func (r *run) part(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(r.blocks))
	q, _ := bits.Div64(hi, lo, uint64(r.toRun))
	return int64(q)
}

// clashBackoff decides whether to run the blocks of a kernel concurrently. Each clash
// doubles the cost of a launch, so after the n-th clash in succession the next 2^n launches
// run in grid order. The result of a launch does not depend on it.
type clashBackoff struct{ clashes, pause atomic.Int32 }

// maxPause is the largest n: at most 1024 launches run in grid order before the next
// attempt.
const maxPause = 10 // 1024 launches

// allowsConcurrency reports whether this launch may run blocks concurrently. If it may not,
// the pause becomes shorter by one launch.
func (c *clashBackoff) allowsConcurrency() bool {
	if c.pause.Load() == 0 {
		return true
	}
	c.pause.Add(-1)
	return false
}

// record notes whether an attempt succeeded.
func (c *clashBackoff) record(good bool) {
	if good {
		c.clashes.Store(0)
		return
	}
	n := min(c.clashes.Add(1), maxPause)
	c.pause.Store(1 << n)
}
