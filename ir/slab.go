package ir

// slabSize is the number of values that a slab allocates at once.
const slabSize = 1024

// slab cuts slices from large allocations. Parsing a graph of a million operations then takes thousands of
// allocations instead of millions.
type slab[T any] struct{ free []T }

// keep returns a copy of elems without spare capacity. It returns nil for an empty slice.
func (s *slab[T]) keep(elems []T) []T {
	n := len(elems)
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		s.free = make([]T, max(n, slabSize))
	}
	kept := s.free[:n:n]
	s.free = s.free[n:]
	copy(kept, elems)
	return kept
}

// one returns the address of a copy of v.
func (s *slab[T]) one(v T) *T { return &s.keep([]T{v})[0] }
