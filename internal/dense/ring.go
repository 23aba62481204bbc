package dense

import "math/bits"

// ring holds an item for each of the latest ranks of a sweep. A sweep in order of ranks needs items no farther back
// than the longest edge spans, so the ring is smaller than one item per node and may fit a cache.
type ring[T any] struct {
	items []T // by rank modulo the length, which is a power of two
}

// newRing returns a ring for edges that span at most span ranks.
func newRing[T any](span int) ring[T] { return ring[T]{make([]T, 1<<bits.Len(uint(span)))} }

// at returns the item of a rank. It shares its place with ranks that are more than the span away.
func (r ring[T]) at(v int32) *T { return &r.items[int(v)&(len(r.items)-1)] }

// span returns the length of the longest edge, in ranks.
func (d *Graph) span() int {
	most := int32(0)
	for u := range int32(d.Len()) {
		if row := d.Succs(u); len(row) > 0 {
			most = max(most, row[len(row)-1]-u)
		}
	}
	return int(most)
}
