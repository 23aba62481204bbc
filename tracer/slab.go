package tracer

// slab cuts small slices of one type from large blocks. Nothing is freed before the end of a trace, so
// one allocation per block is enough.
type slab[T any] struct{ free []T }

// slabLen is the number of values in a block.
const slabLen = 512

// take returns a slice of n zero values with capacity n. It returns nil if n is 0.
func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		s.free = make([]T, max(n, slabLen))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}
