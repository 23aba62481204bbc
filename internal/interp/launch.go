package interp

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// Limits and defaults of a launch.
const (
	maxBlockThreads = 1024      // on every GPU
	maxShared       = 227 << 10 // per block, on compute capability 9.0
	defaultSteps    = 1 << 31   // warp instructions of a block
	defaultResident = 1024      // blocks
)

// Run executes one launch on mem. No other launch may run on mem at the same time. After a
// fault, Stats are incomplete and the memory that the launch writes is undefined. The fault
// is that of the first faulty block in grid order.
//
//	sampled launch                 runSampled
//	kernel whose blocks observe    runInOrder
//	  each other, or small grid
//	otherwise                      runConcurrently; on a clash runInOrder
func (k *Kernel) Run(mem *Memory, l Launch) (Stats, *Fault) {
	if f := k.check(&l); f != nil {
		return Stats{}, f
	}
	r := &k.run
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(k, mem, l)
	defer r.end()
	if r.toRun < r.blocks && !k.ordered {
		r.runSampled()
	} else if n := r.workers(); n < 2 || !r.runConcurrently(n) {
		r.runInOrder()
	}
	if l.Record != nil {
		l.Record.finish()
	}
	writePrinted(l.Stdout, r.engines)
	return r.stats(), r.fault
}

// begin initialises r for a launch.
func (r *run) begin(k *Kernel, mem *Memory, l Launch) {
	l.StepLimit = orDefault(l.StepLimit, defaultSteps)
	l.Resident = orDefault(l.Resident, defaultResident)
	r.kernel, r.mem, r.launch, r.fault = k, mem, l, nil
	r.blocks = int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	r.toRun = r.blocks
	if l.Sample > 0 {
		r.toRun = min(r.blocks, l.Sample)
	}
	r.blockWeight, r.drawn = 1, 0
	if k.ordered {
		r.blockWeight = float64(r.blocks) / float64(r.toRun)
	}
	r.params = grow(r.params, (k.paramBytes+7)/8+1)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&r.params[0])), k.paramBytes), l.Params)
	r.launch.Params = nil
	if l.Cooperative {
		r.launch.workspace = mem.prepareWorkspace()
	}
}

// orDefault returns v, or otherwise if v is 0.
func orDefault(v, otherwise int64) int64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// end drops references to the launch and keeps the buffers.
func (r *run) end() {
	r.dismiss()
	r.pool.trim()
	r.mem, r.launch = nil, Launch{}
}

// warpsPerWorker is the number of warps from which another goroutine pays for its
// start: about 20 µs of work.
const warpsPerWorker = 64

// workers returns the number of goroutines that the launch may use. It is 1 if the blocks
// must run in grid order, or if running them concurrently failed lately.
func (r *run) workers() int {
	if r.kernel.ordered || r.mem.aliased() || !r.kernel.backoff.allowsConcurrency() {
		return 1
	}
	l := &r.launch
	if l.Workers > 0 {
		return int(min(int64(l.Workers), r.toRun))
	}
	warps := (int64(l.Block[0])*int64(l.Block[1])*int64(l.Block[2]) + lanes - 1) / lanes
	return int(min(int64(runtime.GOMAXPROCS(0)), r.toRun, r.toRun*warps/warpsPerWorker))
}

// stats returns the sums of the engines' counters, scaled to the grid if it was
// sampled.
func (r *run) stats() Stats {
	var c counters
	for _, e := range r.engines {
		c.add(&e.count)
	}
	scale := func(n int64) int64 {
		if r.blockWeight == 1 {
			return n
		}
		return int64(float64(n) * r.blockWeight)
	}
	s := Stats{
		Blocks: scale(c.blocks), Warps: scale(c.warps), WarpInsts: scale(c.insts), LaneInsts: scale(c.laneInsts),
		Path: c.path.path(float64(max(c.blocks, 1))), Slowest: c.slowest.path(1),
		Flops:       scale(c.flops),
		SectorsRead: scale(c.read), SectorsWrite: scale(c.written), Atomics: scale(c.atomics),
		Touched: r.touches(), Visits: r.visits(),
	}
	r.estimate(&s)
	return s
}

// path returns a moment divided by n.
func (m moment) path(n float64) Path {
	return Path{Cycles: float64(m.cycles-m.trips*nominalTrip) / n, Trips: float64(m.trips) / n, Barriers: float64(m.barriers) / n}
}

// estimate computes the figures that follow from the visits of segments and from the
// measured blocks. A figure of the measured blocks is multiplied by the ratio of the grid's
// work to theirs; gridFactor, factorFor and touchedFactor return that ratio for blocks, for
// a counted figure and for memory.
func (r *run) estimate(s *Stats) {
	g := &r.engines[0].gauge
	for i, e := range r.engines {
		if i > 0 {
			g.add(&e.gauge)
		}
		for k, n := range e.visits {
			if n > 0 {
				s.Work.Add(&r.kernel.work[k], float64(n)*r.blockWeight)
			}
		}
	}
	if g.blocks == 0 {
		return
	}
	// The grid has factor times the work of the measured blocks.
	factor := r.gridFactor(g, s)
	s.Work[unit.Memory] += float64(g.extra) / extraScale * r.factorFor(factor, s.Work[unit.Memory], g.issued)
	// Without a measured load, every sector counts as a miss.
	s.SectorsMissed = s.SectorsRead
	if g.read > 0 {
		s.SectorsMissed = int64(float64(s.SectorsRead) * float64(g.missed) / float64(g.read))
	}
	s.Pairing = 1
	if g.asked > 0 {
		s.Pairing = 2 * float64(g.pairs) / float64(g.asked)
	}
	if g.updates > 0 {
		s.Updates = int64(float64(g.updates) / updateScale * r.factorFor(factor, float64(s.Atomics), g.atomics))
		s.UpdatedLines = g.bytes.updatedLines()
	}
	s.Extents, s.Growth = g.extents(r, s.Touched, r.touchedFactor(g, s, factor)*r.skippedRatio(false))
}

// gridFactor returns the ratio of the grid's work to that of the measured blocks. It is the
// ratio of the numbers of blocks. If blocks distribute work by a counter, some may do much
// more than others, and it is the ratio of the sectors loaded.
func (r *run) gridFactor(g *gauge, s *Stats) float64 {
	if r.kernel.sharesWork && g.read > 0 {
		return float64(s.SectorsRead) / float64(g.read)
	}
	return float64(r.blocks-g.heads) / float64(g.blocks)
}

// factorFor returns the factor for a figure that is proportional to one that was counted
// for all blocks (all) as well as for the measured ones. It is the ratio of the two: the
// measured blocks may be the only ones in the grid that have any of it. factor is the
// result of gridFactor.
func (r *run) factorFor(factor, all float64, measured int64) float64 {
	switch {
	case r.toRun < r.blocks && !r.kernel.ordered:
		return 1 // the measured blocks already represent the others
	case r.kernel.sharesWork || measured == 0:
		return factor
	}
	return all / float64(measured)
}

// touchedFactor returns the factor for the memory touched. In a grid with more threads than
// work, the idle blocks issue instructions but touch no memory, so the factor is the ratio
// of the sectors loaded.
func (r *run) touchedFactor(g *gauge, s *Stats, factor float64) float64 {
	if g.read > 0 && r.toRun == r.blocks {
		return float64(s.SectorsRead) / float64(g.read)
	}
	return factor
}

// skippedRatio returns the ratio of the instructions that were counted to those that were
// executed, for the engines of the head or for the others. Skipped iterations are only
// counted. They are assumed to touch additional memory as further blocks do.
func (r *run) skippedRatio(head bool) float64 {
	var insts, leapt int64
	for _, e := range r.engines {
		if e.gauge.head == head {
			insts, leapt = insts+e.count.insts, leapt+e.count.skipped
		}
	}
	return float64(max(1, insts)) / float64(max(1, insts-leapt))
}

// touches returns the union of the allocations that the engines touched, by address.
func (r *run) touches() []Touch {
	all := r.touched[:0]
	for _, e := range r.engines {
		for _, t := range e.reached {
			if t.base != workspaceAddress {
				all = append(all, Touch{t.base, t.read, t.written})
			}
		}
	}
	slices.SortFunc(all, func(a, b Touch) int { return int(int64(a.Base) - int64(b.Base)) })
	r.touched = all[:0]
	for _, t := range all {
		if n := len(r.touched); n > 0 && r.touched[n-1].Base == t.Base {
			r.touched[n-1].Read = r.touched[n-1].Read || t.Read
			r.touched[n-1].Written = r.touched[n-1].Written || t.Written
			continue
		}
		r.touched = append(r.touched, t)
	}
	return r.touched
}

// check returns a fault if a launch does not fit the kernel, or nil. Limits are those of
// compute capability 9.0.
func (k *Kernel) check(l *Launch) *Fault {
	fault := func(kind FaultKind, format string, args ...any) *Fault {
		return &Fault{Kind: kind, Label: l.Label, Kernel: k.name, File: k.file, Reason: fmt.Sprintf(format, args...)}
	}
	threads := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	limit := uint64(k.maxThreads[0]) * uint64(k.maxThreads[1]) * uint64(k.maxThreads[2])
	switch {
	// The fault of the lowering, with the label of this launch.
	case k.unsupported != nil:
		f := *k.unsupported
		f.Label = l.Label
		return &f
	case uint64(l.Grid[0])*uint64(l.Grid[1])*uint64(l.Grid[2]) == 0 || threads == 0:
		return fault(BadLaunch, "grid %v of blocks %v has no threads", l.Grid, l.Block)
	case threads > maxBlockThreads || l.Block[2] > 64:
		return fault(BadLaunch, "block %v has %d threads: a block has at most %d, and 64 in z", l.Block, threads, maxBlockThreads)
	case l.Grid[1] > 65535 || l.Grid[2] > 65535 || l.Grid[0] > 1<<31-1:
		return fault(BadLaunch, "grid %v exceeds 2147483647 x 65535 x 65535", l.Grid)
	case limit != 0 && threads > limit:
		return fault(BadLaunch, "block %v has %d threads: the kernel declares at most %d", l.Block, threads, limit)
	case k.reqThreads[0] != 0 && k.reqThreads != l.Block:
		return fault(BadLaunch, "the block is %v: the kernel requires %v", l.Block, k.reqThreads)
	case uint64(k.sharedStatic)+uint64(l.Shared) > maxShared:
		return fault(BadLaunch, "%d bytes of static and %d of dynamic shared memory exceed %d", k.sharedStatic, l.Shared, maxShared)
	case l.Cooperative && uint64(l.Grid[0])*uint64(l.Grid[1])*uint64(l.Grid[2]) > uint64(orDefault(l.Resident, defaultResident)):
		return fault(BadLaunch, "cooperative grid %v has more blocks than the %d that fit on the device together", l.Grid, orDefault(l.Resident, defaultResident))
	case len(l.Params) != k.paramBytes:
		return fault(BadLaunch, "the parameter block has %d bytes, the kernel's signature needs %d", len(l.Params), k.paramBytes)
	}
	return nil
}
