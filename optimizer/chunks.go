package optimizer

// chunks is a list that grows without copying what it has: of the millions of
// dependencies of a long trace append would hold three copies at times.
type chunks[T any] struct {
	full [][]T
	last []T
	n    int
}

const chunkLen = 1 << 14

func (c *chunks[T]) append(items []T) {
	c.n += len(items)
	for len(items) > 0 {
		if len(c.last) == cap(c.last) {
			c.full = append(c.full, c.last)
			c.last = make([]T, 0, max(64, min(chunkLen, c.n)))
		}
		fits := min(len(items), cap(c.last)-len(c.last))
		c.last = append(c.last, items[:fits]...)
		items = items[fits:]
	}
}

// join returns the items in one slice, and lets go of each chunk that it has copied.
func (c *chunks[T]) join() []T {
	all := make([]T, 0, c.n)
	for i, chunk := range c.full {
		all = append(all, chunk...)
		c.full[i] = nil
	}
	return append(all, c.last...)
}
