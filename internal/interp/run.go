package interp

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// run is one launch under way. It is kept for the kernel's next launch, with
// its engines, so that a launch allocates nothing once it has been run before.
type run struct {
	mu      sync.Mutex // held by the launch
	kernel  *Kernel
	mem     *Memory
	launch  Launch
	params  []uint64
	blocks  int64     // of the grid
	runs    int64     // blocks to run, fewer than blocks when sampling
	drawn   int64     // numbers taken from counters by a sample
	each    float64   // how many blocks what a block did counts for, unless see standFor
	engines []*engine // in use
	spare   []*engine
	touched []Touch
	tallies []tally
	extents []Extent

	// Of blocks in grid order.
	resident []*engine // whose blocks have begun and not ended
	free     []*engine // whose block has ended

	// Of blocks side by side.
	chunk     int64 // blocks that are handed out at once
	next      atomic.Int64
	stop      atomic.Int64 // blocks from here on are not needed
	abandoned atomic.Bool
	wait      sync.WaitGroup
	undo      undo
	pool      pool

	failing sync.Mutex
	fault   *Fault
}

// engine gives the launch another engine.
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

// dismiss makes all engines spare.
func (r *run) dismiss() {
	for _, e := range r.engines {
		e.forget()
	}
	r.spare = append(r.spare, r.engines...)
	r.engines = r.engines[:0]
}

// sideBySide runs the blocks on n goroutines. It reports false when they must
// be run again in grid order; then all memory is as before. Blocks that race
// with each other race here too, on words of memory that hold no pointers; the
// functions that access it are marked for Go's race detector to leave alone.
func (r *run) sideBySide(n int) bool {
	r.next.Store(0)
	r.stop.Store(r.runs)
	r.abandoned.Store(false)
	r.pool.opened.Store(0)
	// Neighbouring blocks share pages, so that runs of blocks cost less than single
	// ones; eight for each worker keep all of them busy.
	r.chunk = max(1, r.runs/int64(8*n))
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
	r.kernel.calm.note(good)
	if !good {
		r.fault = nil
		r.dismiss()
		if rec := r.launch.Record; rec != nil {
			rec.release()
		}
	}
	return good
}

// work runs chunks of blocks until none is left, or until a fault in an
// earlier block makes the later ones pointless.
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

// abandon ends the attempt to run the blocks side by side.
func (r *run) abandon() {
	r.abandoned.Store(true)
	r.stop.Store(0)
}

// fail keeps the fault of the first faulty block. Blocks are handed out in
// order, so every block before it runs to its end.
func (r *run) fail(i int64, f *Fault) {
	r.failing.Lock()
	defer r.failing.Unlock()
	if i < r.stop.Load() {
		r.stop.Store(i)
		r.fault = f
	}
}

// block is where in the grid the i-th run is.
func (r *run) block(i int64) [3]uint32 {
	if r.runs < r.blocks {
		i = r.pick(i)
	}
	return r.at(i)
}

// at is the i-th block of the grid.
func (r *run) at(i int64) [3]uint32 {
	x, y := int64(r.launch.Grid[0]), int64(r.launch.Grid[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

// pick is the i-th block of a sample: one from each of equal parts of the grid, at a
// place of its own. Taken from the same place of all, they might be one column of the
// grid.
func (r *run) pick(i int64) int64 {
	at := r.part(i)
	return at + int64(mix(uint64(i)+1)%uint64(r.part(i+1)-at))
}

// part is where the i-th of equal parts of the grid begins, one for each run.
func (r *run) part(i int64) int64 {
	hi, lo := bits.Mul64(uint64(i), uint64(r.blocks))
	q, _ := bits.Div64(hi, lo, uint64(r.runs))
	return int64(q)
}

// calm decides whether the blocks of a kernel are worth running side by side:
// each clash costs the launch twice, so after the n-th clash the next 2^n
// launches are not tried. Bytes do not depend on it.
type calm struct{ clashes, pause atomic.Int32 }

const maxPause = 10 // 1024 launches

func (c *calm) allows() bool {
	if c.pause.Load() == 0 {
		return true
	}
	c.pause.Add(-1)
	return false
}

func (c *calm) note(good bool) {
	if good {
		c.clashes.Store(0)
		return
	}
	n := min(c.clashes.Add(1), maxPause)
	c.pause.Store(1 << n)
}
