package ir

// Causes numbers the bytes behind dependencies, from 1. Programs use the same ranges again and again, and a dependency
// with a number takes 16 bytes, with the range 40. The same ranges in the same order get the same numbers.
type Causes struct {
	ranges []Range
	recent [1 << recentBits]int32 // by hash
}

// recentBits bounds what Causes remembers. A range that it has forgotten gets one more number,
// which costs memory and nothing else: a map of all would be slower and larger than the ranges.
const recentBits = 12

// ID is the number of a range, 0 for an empty one.
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

// slot is where a range is remembered. Tiles are as far apart as they are long, so both
// ends are multiplied by themselves: what they have in common must not cancel out.
func slot(r Range) uint64 {
	const golden = 0x9e3779b97f4a7c15 // Fibonacci hashing
	h := (uint64(r.Lo)*golden ^ uint64(r.Hi)) * golden
	return (h>>32 ^ h ^ uint64(r.Buffer)) * golden >> (64 - recentBits)
}

// Ranges returns the ranges: number 1 comes first.
func (c *Causes) Ranges() []Range { return c.ranges }
