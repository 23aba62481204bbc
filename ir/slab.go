package ir

// slabSize is how many values a slab allocates at once.
const slabSize = 1024

// slab hands out parts of large allocations: a parsed graph of a million
// operations then costs thousands of allocations instead of millions.
type slab[T any] struct{ free []T }

// keep returns a copy of elems without spare capacity, nil for none.
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
