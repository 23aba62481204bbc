package interp

import "math/bits"

// l1 is one block's share of its multiprocessor's L1 cache: lines of four sectors in
// sets of l1Ways, chosen by a hash of the address, the least recently loaded replaced.
// Two simplifications: resident blocks have equal shares, and nothing survives from
// block to block.
type l1 struct {
	lines []l1line // the sets, one after the other, each with its newest line first
	epoch uint32
}

// l1Ways is the number of lines of a set.
const l1Ways = 4

// l1line is a line of the cache. It is empty if its epoch is not that of the cache.
type l1line struct {
	line    uint64
	epoch   uint32 // of the block that loaded it
	sectors uint32 // which of the four are there
}

// resize sets the size of the cache, rounded down to a power of two of lines.
func (c *l1) resize(bytes int) {
	n := 0
	if bytes >= l1Ways*lineBytes {
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
	sets := uint64(len(c.lines) / l1Ways)
	set := c.lines[(mix(inRegion(line))>>32&(sets-1))*l1Ways:][:l1Ways]
	for i := range set {
		if at := &set[i]; at.line == line && at.epoch == c.epoch {
			hit := at.sectors&bit != 0
			at.sectors |= bit
			return hit
		}
	}
	copy(set[1:], set)
	set[0] = l1line{line: line, epoch: c.epoch, sectors: bit}
	return false
}
