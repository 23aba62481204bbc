package interp

import "math"

// A sample is some blocks of a grid that stand for all of it, one from each of equal parts.
// Grids often have more threads than there is work, and then the first blocks have all of
// that. So the grid is also run from its first block on, until one does about as much as
// the sample does further on. What came before, the head, stands for itself.
//
//	blocks │ h h h 1 · · · · │ · · · · 1 · · · │ · 1 · · · · · · │ · · · · · · 1 · │
//
// Kernels whose blocks see each other are sampled without a head, see inOrder: what a
// block of such a kernel does depends on which ran before it.

const (
	// headMost is how long the head may be.
	headMost = 64
	// headUnlike is how much more or less a block of the head does than any of the sample:
	// grid-stride loops make one turn more in some blocks, which does not matter.
	headUnlike = 1.125
)

// sampled runs a sample of the grid.
func (r *run) sampled() {
	others := r.engine(false)
	others.gauge.few = true
	least, most := int64(math.MaxInt64), int64(0)
	few := min(headMost, r.blocks/2)
	for i := range r.runs {
		if at := r.pick(i); at >= few && r.fault == nil {
			did := r.whole(others, at)
			least, most = min(least, did), max(most, did)
		}
	}
	head := int64(0)
	for ; r.fault == nil; head++ {
		e := r.engine(false)
		did := float64(r.whole(e, head))
		if like := did*headUnlike >= float64(least) && did <= float64(most)*headUnlike; like || most == 0 || head+1 == few {
			break
		}
		e.gauge.head = true
	}
	for i := range r.runs {
		if at := r.pick(i); at > head && at < few && r.fault == nil {
			r.whole(others, at)
		}
	}
	first := r.engines[len(r.engines)-1]
	rest := r.blocks - head
	first.standFor(rest / (others.count.blocks + 1))
	others.standFor(rest - first.count.blocks)
}

// stride is how many numbers a sampled block takes from a counter where it would take
// one, for itself and the blocks that it stands for: what blocks share out by a counter
// would otherwise be shared out among those of the sample.
func (r *run) stride() uint64 {
	r.drawn++
	return uint64(r.part(r.drawn) - r.part(r.drawn-1))
}

// whole runs the i-th block to its end, and returns how many warp instructions that was.
func (r *run) whole(e *engine, i int64) int64 {
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

// standFor has what the engine's blocks did count for so many blocks.
func (e *engine) standFor(blocks int64) {
	if e.count.blocks == 0 || e.count.blocks == blocks {
		return
	}
	times := float64(blocks) / float64(e.count.blocks)
	c, measured := &e.count, e.gauge.counts()
	for _, n := range append(measured[:],
		&c.warps, &c.insts, &c.laneInsts, &c.flops, &c.leapt, &c.read, &c.written, &c.atomics, &c.path.cycles, &c.path.trips) {
		*n = int64(math.Round(float64(*n) * times))
	}
	for i := range e.visits {
		e.visits[i] = int64(math.Round(float64(e.visits[i]) * times))
	}
	c.blocks = blocks
}
