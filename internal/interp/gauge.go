package interp

import (
	"math/bits"
	"slices"

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

	blocks  int64 // measured
	halves  int64 // of blocks, those in the half
	heads   int64 // measured in the head
	issued  int64 // memory instructions of warps
	extra   int64 // wavefronts beyond the first of each
	read    int64 // sectors that loads requested
	missed  int64 // of read, those that were not in L1
	atomics int64 // atomic operations of lanes
	updates int64 // serial operations on sectors that the atomics become

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
	g.cache = l.CacheBytes
	g.bytes.clear()
}

// counts returns the counters of the measured blocks.
func (g *gauge) counts() [6]*int64 {
	return [...]*int64{&g.issued, &g.extra, &g.read, &g.missed, &g.atomics, &g.updates}
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
	case space == ptx.Local, space == ptx.Generic && first-localWindow < windowSize:
		g.extra += int64(in.x.bytes()+3)/4 - 1 // the lanes' words are adjacent
	case space == ptx.Shared, space == ptx.Generic && first-sharedWindow < windowSize:
		g.extra += bankWavefronts(w, in) - 1
	default:
		g.global(w, in)
	}
	g.issued++
	if in.x.kind == updates {
		g.atomics += int64(bits.OnesCount32(w.live))
	}
}

// pattern is the relation of the addresses in a full warp.
type pattern uint8

// Patterns of addresses.
const (
	scattered  pattern = iota
	adjacent           // adjacent elements
	oneElement         // one element
)

// accessPattern returns the pattern of an access by all lanes, and the first lane's address.
func (w *warp) accessPattern(in *inst, n uint64) (pattern, uint64) {
	first := w.address(in, firstLane(w.live))
	if w.live != allLanes {
		return scattered, first
	}
	var rowDiff, diff uint64
	for i := range lanes {
		a := w.address(in, i)
		rowDiff |= a ^ (first + uint64(i)*n)
		diff |= a ^ first
	}
	switch {
	case rowDiff == 0:
		return adjacent, first
	case diff == 0:
		return oneElement, first
	}
	return scattered, first
}

// bankWavefronts returns the number of passes that shared memory needs for one instruction.
// Each of its 32 banks, 4 bytes wide, serves one word per pass:
//
//	bank     0    1    2   …   31
//	word     0    1    2   …   31      one pass: every lane another bank
//	word     0   32                    words 0 and 32 are in bank 0: two passes
//
// Lanes that read the same word share it; lanes that update it do not. Accesses wider than
// a word are served for a part of the warp at a time, which the count of words accounts
// for.
func bankWavefronts(w *warp, in *inst) int64 {
	const wordBytes = 4
	n := in.x.bytes()
	updating := in.x.kind == updates
	switch p, _ := w.accessPattern(in, n); {
	case p == adjacent:
		return int64(max(1, n/wordBytes))
	case p == oneElement && !updating:
		return 1
	}
	// For each bank: the number of different words that the lanes access. Most banks have
	// one, so only further words are listed.
	var load [32]int64   // words of each bank
	var first [32]uint64 // the first of them, plus one
	var more [4 * lanes]uint64
	others := more[:0]
	busiest := int64(1)
	for m := w.live; m != 0; m &= m - 1 {
		addr := w.address(in, bits.TrailingZeros32(m))
		for word := addr / wordBytes; word <= (addr+n-1)/wordBytes; word++ {
			b := word & 31
			switch {
			case first[b] == 0:
				first[b] = word + 1
			case updating:
			case first[b] == word+1 || slices.Contains(others, word):
				continue
			default:
				others = append(others, word)
			}
			load[b]++
			busiest = max(busiest, load[b])
		}
	}
	return busiest
}

// global measures an access to global memory. L1 delivers four sectors at once, and
// passes on stores and atomics.
func (g *gauge) global(w *warp, in *inst) {
	n := in.x.bytes()
	// The lanes' bytes are one range.
	if p, first := w.accessPattern(in, n); p != scattered && in.x.kind != updates {
		end := first + n
		if p == adjacent {
			end = first + lanes*n
		}
		last := (end - 1) >> 5
		for s := first >> 5; s <= last; s++ {
			g.sector(s, in)
		}
		g.extra += int64(last-first>>5) >> 2
		return
	}
	var sectors, words sectorSet
	active := int64(0)
	for m := w.live; m != 0; m &= m - 1 {
		addr := w.address(in, bits.TrailingZeros32(m))
		active++
		for s := addr >> 5; s <= (addr+n-1)>>5; s++ {
			before := sectors.count
			if sectors.one(s + 1); sectors.count > before {
				g.sector(s, in)
			}
		}
		if in.x.kind == updates {
			words.one(addr + 1)
		}
	}
	g.extra += (sectors.count - 1) >> 2
	if in.x.kind == updates {
		// Lanes that update the same word are serial. Different words of a sector are
		// updated together.
		g.updates += active - words.count + sectors.count
	}
}

// sector looks up one sector in the caches and adds it to the sketch. Loads that must
// observe the stores of other blocks bypass L1.
func (g *gauge) sector(s uint64, in *inst) {
	kind := in.x.kind
	if kind == loads {
		g.read++
		if !in.x.watched && g.l1.lookup(s) {
			return
		}
		g.missed++
	}
	g.bytes.add(s, kind, g.tag, g.half)
}

// l1 is one block's share of its multiprocessor's L1 cache: lines of four sectors,
// direct-mapped by a hash of the address. It is simplified in two respects: resident blocks
// have equal shares, and nothing survives from block to block. The hash replaces the
// associativity of the hardware, since it spreads addresses that would compete for a set.
type l1 struct {
	lines []l1line
	epoch uint32
}

// l1line is a line of the cache. It is empty if its epoch is not that of the cache.
type l1line struct {
	line    uint64
	epoch   uint32 // of the block that loaded it
	sectors uint32 // which of the four are there
}

// resize sets the size of the cache, rounded down to a power of two of lines.
func (c *l1) resize(bytes int) {
	n := 0
	if bytes >= lineBytes {
		n = 1 << (bits.Len(uint(bytes/lineBytes)) - 1)
	}
	if cap(c.lines) < n {
		c.lines, c.epoch = make([]l1line, n), 0
	}
	c.lines = c.lines[:n]
}

// lineBytes is the size of a line of L1 and L2: four sectors.
const lineBytes = 128

// invalidate empties the cache: lines of earlier epochs do not count.
func (c *l1) invalidate() {
	if c.epoch++; c.epoch == 0 {
		clear(c.lines[:cap(c.lines)])
		c.epoch = 1
	}
}

// displace accounts for misses that were counted without a lookup. As many misses as
// the cache has lines empty it.
func (c *l1) displace(missed int64) {
	if missed >= int64(len(c.lines)) {
		c.invalidate()
	}
}

// lookup looks up a sector, and loads it on a miss.
func (c *l1) lookup(sector uint64) bool {
	if len(c.lines) == 0 {
		return false
	}
	line, bit := sector>>2, uint32(1)<<(sector&3)
	at := &c.lines[mix(inRegion(line))>>32&uint64(len(c.lines)-1)]
	if at.line != line || at.epoch != c.epoch {
		*at = l1line{line: line, epoch: c.epoch}
	}
	hit := at.sectors&bit != 0
	at.sectors |= bit
	return hit
}

// mix spreads a line's number over 64 bits (Fibonacci hashing).
func mix(line uint64) uint64 {
	h := line * 0x9E3779B97F4A7C15
	return h ^ h>>29
}
