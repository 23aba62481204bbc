package ir

// Causes numbers the ranges of bytes that cause dependencies, from 1. Programs use few different ranges, so
// a dependency holds a number: it takes 16 bytes, and 40 with the range itself.
//
// Recent ranges are in a direct-mapped cache. A range that has been evicted gets a second number, which
// costs memory only; a map of all ranges would be slower and larger than the ranges. Numbers depend on the
// sequence of calls alone, so equal sequences give equal numbers.
type Causes struct {
	ranges []Range                // by number - 1
	recent [1 << recentBits]int32 // by hash of a range: its number, 0 for none
}

// recentBits is the binary logarithm of the size of the cache.
const recentBits = 12

// ID returns the number of a range, and 0 for an empty one.
func (c *Causes) ID(r Range) int32 {
	if r.Empty() {
		return 0
	}
	id := &c.recent[slot(r)]
	if *id == 0 || c.ranges[*id-1] != r {
		c.ranges = append(c.ranges, r)
		*id = int32(len(c.ranges))
	}
	return *id
}

// slot returns the place of a range in the cache, by Fibonacci hashing. The ends of tiles, [kn, kn+n), have
// common factors, which would cancel out in a hash of Lo and Hi that is linear; so Lo is hashed before Hi
// is combined with it.
func slot(r Range) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := (uint64(r.Lo)*golden ^ uint64(r.Hi)) * golden
	return (h>>32 ^ h ^ uint64(r.Buffer)) * golden >> (64 - recentBits)
}

// Ranges returns the ranges: number 1 comes first.
func (c *Causes) Ranges() []Range { return c.ranges }
