package interp

import (
	"math"
	"math/bits"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// gauge measures the cost of memory accesses beyond their number: the wavefronts of shared
// memory and L1 for one instruction, the accesses that an L1 cache would serve, and the
// bytes that a launch touches in all. It inspects addresses one by one, which doubles the
// time of an access. Only some blocks are measured, one at a pseudorandom position of each
// of minMeasured parts of the grid, and the results are scaled:
//
//	grid     │ m · · · │ · · m · │ · m · · │ …     stride = 4 blocks
//	part     0         1         2
//
// The choice of blocks depends on the launch alone, so the results do not depend on the
// number of engines.
type gauge struct {
	on         bool  // the current block is measured
	half       bool  // it is also in the half by which the growth is computed
	tag        uint8 // distinguishes it from most other measured blocks
	head       bool  // the blocks represent only themselves, not the grid: see sampled
	fewBlocks  bool  // every other block is in the half, since there are few
	stride     int64 // one of stride blocks is measured
	candidates int64 // the number of first blocks that measured ones are chosen from
	spacing    int64 // approximate distance of measured blocks in the grid
	cache      int   // bytes of L1
	least      int64 // cycles of the memory unit for one wavefront

	blocks  int64 // measured
	halves  int64 // of blocks, those in the half
	heads   int64 // measured in the head
	issued  int64 // memory instructions of warps
	extra   int64 // cycles of the memory unit beyond those of an instruction with one wavefront, in cycles of such an instruction times extraScale
	asked   int64 // sectors that loads and stores passed on to L2
	pairs   int64 // of asked, the aligned pairs
	read    int64 // sectors that loads requested
	missed  int64 // of read, those that were not in L1
	atomics int64 // atomic operations of lanes
	updates int64 // cycles of a slice of L2 that the atomics take, times updateScale

	l1    l1
	bytes sketch
}

// minMeasured is the minimum number of blocks that are measured; of a smaller grid, all
// are. The grid is divided into equal parts, with one measured block in each.
const minMeasured = 8

// prepare initialises the gauge for a launch. If blocks share work by a counter, the
// measured blocks are among the first resident ones: these may do all the work and
// leave none for the rest of the grid.
func (g *gauge) prepare(l *Launch, shares bool) {
	g.on, g.head, g.fewBlocks, g.stride = false, false, false, 1
	g.candidates = int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2])
	if l.Sample == 0 {
		if shares {
			g.candidates = min(g.candidates, l.Resident)
		}
		g.stride = max(1, g.candidates/minMeasured)
	}
	if g.spacing = g.stride; l.Sample > 0 {
		g.spacing = max(1, g.candidates/l.Sample)
	}
	g.blocks, g.halves, g.heads = 0, 0, 0
	for _, n := range g.counts() {
		*n = 0
	}
	g.cache, g.least = l.CacheBytes, max(1, l.MemoryCycles)
	g.bytes.clear()
}

// counts returns the counters of the measured blocks.
func (g *gauge) counts() [8]*int64 {
	return [...]*int64{&g.issued, &g.extra, &g.read, &g.missed, &g.atomics, &g.updates, &g.asked, &g.pairs}
}

// begin decides whether block i in grid order is measured.
func (g *gauge) begin(i int64) {
	part := i / g.stride
	g.on = i < g.candidates && i%g.stride == g.measuredOffset(part)
	if g.on {
		g.l1.resize(g.cache)
		g.bytes.allocate()
		g.half, g.tag = mix(uint64(part)+1)>>63 == 0, uint8(min(255, i/g.spacing))
		if g.fewBlocks {
			g.half = g.blocks%2 == 0
		}
		if g.blocks++; g.half {
			g.halves++
		}
		g.l1.invalidate()
	}
}

// measuredOffset returns which block of a part of the grid is measured. For the first part this
// is block 0: if the grid has more threads than work, the first threads do it.
func (g *gauge) measuredOffset(part int64) int64 {
	if part == 0 {
		return 0
	}
	return int64(mix(uint64(part)+1) % uint64(g.stride))
}

// add adds the measurements of another gauge of the launch. Those of the head are kept
// apart: its blocks represent only themselves.
func (g *gauge) add(o *gauge) {
	if o.head {
		g.heads += o.blocks
	} else {
		g.blocks += o.blocks
		g.halves += o.halves
	}
	theirs := o.counts()
	for i, n := range g.counts() {
		*n += *theirs[i]
	}
	g.bytes.merge(&o.bytes, o.head)
}

// access measures one record for the live lanes, before it is executed.
func (g *gauge) access(w *warp, in *inst) {
	space := in.x.space
	first := w.address(in, firstLane(w.live))
	switch {
	case space == ptx.ParamSpace:
		return
	case in.x.constant:
		g.takes(float64(distinctWords(w, in)))
	case space == ptx.Local, space == ptx.Generic && first-localWindow < windowSize:
		g.takes(float64(in.x.bytes()+3) / 4) // the lanes' words are adjacent
	case space == ptx.Shared, space == ptx.Generic && first-sharedWindow < windowSize:
		g.takes(float64(bankWavefronts(w, in)))
	default:
		g.global(w, in)
	}
	g.issued++
	if in.x.kind == updates {
		g.atomics += int64(bits.OnesCount32(w.live))
	}
}

// extraScale is the unit of gauge.extra.
const extraScale = 64

// takes records that an instruction keeps the memory unit busy for a number of cycles.
// The first g.least are counted with the instruction.
func (g *gauge) takes(cycles float64) {
	least := float64(g.least)
	g.extra += int64(math.Round(extraScale * max(0, cycles-least) / least))
}

// global measures an access to global memory. A load that hits L1 takes the cycles of its banks or of its lines, any
// other access those of its sectors, four at a time.
func (g *gauge) global(w *warp, in *inst) {
	n := in.x.bytes()
	asked := g.asked
	hit := func() bool { return in.x.kind == loads && g.asked == asked }
	p, first := w.accessPattern(in, n)
	if p == scattered || in.x.kind == updates {
		if sectors := g.scattered(w, in, n); hit() {
			g.takes(max(float64(bankWavefronts(w, in)), tagCycles(linesOf(w, in, n))))
		} else {
			g.takes(float64((sectors-1)>>2 + 1))
		}
		return
	}
	// The lanes' bytes are one range.
	end, banks := first+n, uint64(1)
	if p == adjacent {
		end, banks = first+lanes*n, max(1, n/4)
	}
	last := (end - 1) >> 5
	pair := ^uint64(0)
	for s := first >> 5; s <= last; s++ {
		g.sector(s, in, &pair)
	}
	if hit() {
		g.takes(max(float64(banks), tagCycles(int64((end-1)>>7-first>>7)+1)))
		return
	}
	g.takes(float64((last-first>>5)>>2 + 1))
}

// scattered measures an access whose addresses have no pattern, and returns the number of its sectors.
func (g *gauge) scattered(w *warp, in *inst, n uint64) int64 {
	var sectors, words sectorSet
	active := int64(0)
	pair := ^uint64(0)
	for m := w.live; m != 0; m &= m - 1 {
		addr := w.address(in, bits.TrailingZeros32(m))
		active++
		for s := addr >> 5; s <= (addr+n-1)>>5; s++ {
			before := sectors.count
			if sectors.one(s + 1); sectors.count > before {
				g.sector(s, in, &pair)
			}
		}
		if in.x.kind == updates {
			words.one(addr + 1)
		}
	}
	if in.x.kind == updates {
		g.updates += serialUpdates(in, active, words.count)
	}
	return sectors.count
}

// sector looks up one sector in the caches and adds it to the sketch. Loads that must
// observe the stores of other blocks bypass L1.
func (g *gauge) sector(s uint64, in *inst, pair *uint64) {
	kind := in.x.kind
	if kind == loads {
		g.read++
		if !in.x.watched && g.l1.lookup(s) {
			return
		}
		g.missed++
	}
	if kind != updates { // which the atomic units of L2 limit
		g.asked++
		if *pair != s>>1 {
			g.pairs++
			*pair = s >> 1
		}
	}
	g.bytes.add(s, kind, g.tag, g.half)
}

// mix spreads a line's number over 64 bits (Fibonacci hashing).
func mix(line uint64) uint64 {
	h := line * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// updateScale is the unit of gauge.updates.
const updateScale = 64

// serialUpdates returns for how long an instruction keeps a slice of L2 busy, in cycles times
// updateScale. Lanes that update one word wait for each other; different words of a line are updated 1.7 at a time.
// Each instruction takes 1.4 cycles at least, which shows if it updates one word. Of the published rows, 1.7 has an effect
// on the kernel histogram alone, and 1.4 on atomic_hotspot alone.
func serialUpdates(in *inst, active, words int64) int64 {
	same := active - words
	if in.x.once {
		same = 0
	}
	return int64(math.Round(updateScale * max(1.4, 1+float64(words-1)/1.7+float64(same))))
}
