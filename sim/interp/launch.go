package interp

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	maxBlockThreads = 1024
	maxShared       = 227 << 10 // what a block may have on compute capability 9.0
	defaultSteps    = 1 << 31
)

// Run executes one launch on mem. Stats are complete only without a fault;
// after a fault the memory the launch writes has no defined contents. The
// fault is that of the first faulty block in grid order.
func (k *Kernel) Run(mem *Memory, l Launch) (Stats, *Fault) {
	if f := k.check(&l); f != nil {
		return Stats{}, f
	}
	if l.StepLimit == 0 {
		l.StepLimit = defaultSteps
	}
	params := make([]uint64, (k.paramBytes+7)/8+1)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&params[0])), k.paramBytes), l.Params)
	r := &run{kernel: k, launch: &l, blocks: int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])}
	r.runs = r.blocks
	if l.Sample > 0 {
		r.runs = min(r.blocks, l.Sample)
	}
	r.stop.Store(r.runs)
	n := int64(1)
	if !k.ordered {
		n = max(1, min(int64(l.Workers), (r.runs+blocksPerWorker-1)/blocksPerWorker))
	}
	engines := make([]*engine, n)
	for i := range engines {
		engines[i] = k.engines.Get().(*engine)
		engines[i].prepare(k, mem, &l, unsafe.Pointer(&params[0]))
		defer k.engines.Put(engines[i])
	}
	if l.Record != nil {
		l.Record.begin(k, engines)
	}
	r.all(engines)
	if l.Record != nil {
		l.Record.finish(engines)
	}
	return r.stats(engines), r.fault
}

// blocksPerWorker is how many blocks make another goroutine worth its start.
const blocksPerWorker = 4

// run hands out the blocks of one launch.
type run struct {
	kernel *Kernel
	launch *Launch
	blocks int64 // of the grid
	runs   int64 // blocks to run, fewer than blocks when sampling
	next   atomic.Int64
	stop   atomic.Int64 // runs from here on are not needed

	mu    sync.Mutex
	fault *Fault
}

func (r *run) all(engines []*engine) {
	var wg sync.WaitGroup
	for _, e := range engines[1:] {
		wg.Go(func() { r.work(e) })
	}
	r.work(engines[0])
	wg.Wait()
}

// work runs blocks in grid order until none is left, or until a fault in an
// earlier block makes the later ones pointless.
func (r *run) work(e *engine) {
	for {
		i := r.next.Add(1) - 1
		if i >= r.stop.Load() {
			return
		}
		if f := e.runBlock(r.block(i)); f != nil {
			r.fail(i, f)
			return
		}
	}
}

// block is where in the grid the i-th run is.
func (r *run) block(i int64) [3]uint32 {
	if r.runs < r.blocks {
		hi, lo := bits.Mul64(uint64(i), uint64(r.blocks))
		q, _ := bits.Div64(hi, lo, uint64(r.runs))
		i = int64(q)
	}
	x, y := int64(r.launch.Grid[0]), int64(r.launch.Grid[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

// fail keeps the fault of the first faulty block. Blocks are handed out in
// order, so every block before it runs to its end.
func (r *run) fail(i int64, f *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < r.stop.Load() {
		r.stop.Store(i)
		r.fault = f
	}
}

// stats is what the engines counted, scaled to the grid when it was sampled.
func (r *run) stats(engines []*engine) Stats {
	var c counters
	for _, e := range engines {
		c.add(&e.count)
	}
	scale := func(n int64) int64 {
		if r.runs == r.blocks {
			return n
		}
		return int64(float64(n) * float64(r.blocks) / float64(r.runs))
	}
	return Stats{
		Blocks: scale(c.blocks), Warps: scale(c.warps), WarpInsts: scale(c.insts), LaneInsts: scale(c.laneInsts),
		Issue: float64(scale(c.issue)), BlockCycles: float64(c.latest),
		SectorsRead: scale(c.read), SectorsWrite: scale(c.written), Atomics: scale(c.atomics),
		Touched: mergeTouched(engines),
	}
}

// check refuses launches that do not fit the kernel.
func (k *Kernel) check(l *Launch) *Fault {
	fault := func(kind FaultKind, format string, args ...any) *Fault {
		return &Fault{Kind: kind, Label: l.Label, Kernel: k.name, File: k.file, Reason: fmt.Sprintf(format, args...)}
	}
	threads := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	limit := uint64(k.maxThreads[0]) * uint64(k.maxThreads[1]) * uint64(k.maxThreads[2])
	switch {
	case k.unsupported != nil:
		f := *k.unsupported
		f.Label = l.Label
		return &f
	case uint64(l.Grid[0])*uint64(l.Grid[1])*uint64(l.Grid[2]) == 0 || threads == 0:
		return fault(BadLaunch, "grid %v of blocks %v has no threads", l.Grid, l.Block)
	case threads > maxBlockThreads || l.Block[2] > 64:
		return fault(BadLaunch, "block %v has %d threads, the limit is %d and 64 in z", l.Block, threads, maxBlockThreads)
	case l.Grid[1] > 65535 || l.Grid[2] > 65535 || l.Grid[0] > 1<<31-1:
		return fault(BadLaunch, "grid %v exceeds 2147483647 x 65535 x 65535", l.Grid)
	case limit != 0 && threads > limit:
		return fault(BadLaunch, "block %v has %d threads, the kernel declares at most %d", l.Block, threads, limit)
	case k.reqThreads[0] != 0 && k.reqThreads != l.Block:
		return fault(BadLaunch, "block is %v, the kernel requires %v", l.Block, k.reqThreads)
	case uint64(k.sharedStatic)+uint64(l.Shared) > maxShared:
		return fault(BadLaunch, "%d bytes of static and %d of dynamic shared memory exceed %d", k.sharedStatic, l.Shared, maxShared)
	case len(l.Params) != k.paramBytes:
		return fault(BadLaunch, "the parameter block has %d bytes, the kernel's signature needs %d", len(l.Params), k.paramBytes)
	}
	return nil
}
