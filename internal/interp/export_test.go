package interp

// Skip leaves n bytes of the address space out, so that what runs over the end of
// one allocation does not hit the next.
func (m *Memory) Skip(n uint64) { m.space.next += n }
