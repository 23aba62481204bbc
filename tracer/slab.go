package tracer

// slab hands out small slices of one type from large blocks: a trace keeps all
// it allocates to its end, so one allocation per block is enough.
type slab[T any] struct{ free []T }

const slabLen = 512

// take returns n zero values of capacity n, nil for none.
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
