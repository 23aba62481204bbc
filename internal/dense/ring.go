package dense

import "math/bits"

// ring holds an item for each of the last ranks of a sweep. A sweep that goes from rank to rank looks no farther back than an edge
// spans.
type ring[T any] struct {
	items []T // a power of two
}

// newRing returns a ring for edges that span at most span ranks.
func newRing[T any](span int) ring[T] { return ring[T]{make([]T, 1<<bits.Len(uint(span)))} }

// at is the item of a rank, which replaces that of a rank more than the span away.
func (r ring[T]) at(v int32) *T { return &r.items[int(v)&(len(r.items)-1)] }

// span is the most ranks from one end of an edge to the other.
func (d *Graph) span() int {
	most := int32(0)
	for u := range int32(d.Len()) {
		if row := d.Succs(u); len(row) > 0 {
			most = max(most, row[len(row)-1]-u)
		}
	}
	return int(most)
}
