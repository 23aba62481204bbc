package interp

import "math"

// A sample is a set of blocks that represents the whole grid, one block of each of equal
// parts. Grids often have more threads than work. The first blocks then do all of it. The
// grid is therefore also run from its first block on, until a block does about as much as
// the sample does. The blocks before it, the head, represent only themselves:
//
//	blocks │ h h h 1 · · · · │ · · · · 1 · · · │ · 1 · · · · · · │ · · · · · · 1 · │
//
//	h  the head: counted once
//	1  run; together they are counted as all blocks but the head
//	·  not run
//
// Kernels whose blocks observe each other are sampled without a head, see runInOrder: the
// work of a block of such a kernel depends on the blocks that ran before it.

const (
	// maxHead is the maximum length of the head, in blocks.
	maxHead = 64
	// headTolerance is the ratio up to which the work of a block counts as equal to that of
	// the sample. Blocks of a grid-stride loop differ by one iteration, which must not
	// count.
	headTolerance = 1.125
)

// runSampled runs a sample of the grid, in three steps:
//
//	1   blocks of the sample behind the longest possible head: how much work does a block do?
//	2   blocks from the first one on, until one does about that much: the head ends before it
//	3   the remaining blocks of the sample, between the head and the blocks of step 1
func (r *run) runSampled() {
	others := r.engine(false)
	others.gauge.fewBlocks = true
	minInsts, maxInsts := int64(math.MaxInt64), int64(0)
	headLimit := min(maxHead, r.blocks/2)
	for i := range r.toRun {
		if at := r.pick(i); at >= headLimit && r.fault == nil {
			insts := r.runBlock(others, at)
			minInsts, maxInsts = min(minInsts, insts), max(maxInsts, insts)
		}
	}
	head := int64(0)
	for ; r.fault == nil; head++ {
		e := r.engine(false)
		insts := float64(r.runBlock(e, head))
		if similar := insts*headTolerance >= float64(minInsts) && insts <= float64(maxInsts)*headTolerance; similar || maxInsts == 0 || head+1 == headLimit {
			break
		}
		e.gauge.head = true
	}
	for i := range r.toRun {
		if at := r.pick(i); at > head && at < headLimit && r.fault == nil {
			r.runBlock(others, at)
		}
	}
	// The last engine ran the block at which the head ends. It represents as many blocks as
	// each of the others.
	first := r.engines[len(r.engines)-1]
	rest := r.blocks - head
	first.scaleTo(rest / (others.count.blocks + 1))
	others.scaleTo(rest - first.count.blocks)
}

// drawCount returns the number of values that a sampled block draws from a counter instead
// of one: its own, and those of the blocks that it represents. Otherwise the sampled blocks
// would do the work of the whole grid.
func (r *run) drawCount() uint64 {
	r.drawn++
	return uint64(r.part(r.drawn) - r.part(r.drawn-1))
}

// runBlock runs block i to its end, and returns its number of warp instructions.
func (r *run) runBlock(e *engine, i int64) int64 {
	before := e.count.insts
	e.begin(r.at(i))
	for idle := 0; ; {
		switch e.turn() {
		case ended:
			r.fault = e.fault
			return e.count.insts - before
		case waits:
			if idle++; idle > idleLimit {
				r.fault = e.waitsFor("; a sampled launch runs few of its blocks")
				return 0
			}
		}
	}
}

// scaleTo multiplies the counts of the engine's blocks by the number of blocks that
// they represent.
func (e *engine) scaleTo(blocks int64) {
	if e.count.blocks == 0 || e.count.blocks == blocks {
		return
	}
	times := float64(blocks) / float64(e.count.blocks)
	c, measured := &e.count, e.gauge.counts()
	for _, n := range append(measured[:],
		&c.warps, &c.insts, &c.laneInsts, &c.flops, &c.skipped, &c.read, &c.written, &c.atomics, &c.path.cycles, &c.path.trips, &c.path.barriers) {
		*n = int64(math.Round(float64(*n) * times))
	}
	for i := range e.visits {
		e.visits[i] = int64(math.Round(float64(e.visits[i]) * times))
	}
	c.blocks = blocks
}
