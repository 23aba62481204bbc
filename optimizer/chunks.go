package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/huge"
	"github.com/reprise-gpu/reprise/internal/parallel"
)

// chunks is a list that grows without copying what it has: of the millions of
// dependencies of a long trace append would hold three copies at times.
type chunks[T any] struct {
	full [][]T // of chunkLen items each
	last []T
}

const chunkLen = 1 << 14

func (c *chunks[T]) append(item T) {
	if len(c.last) == chunkLen {
		c.full = append(c.full, c.last)
		c.last = make([]T, 0, chunkLen)
	}
	c.last = append(c.last, item)
}

func (c *chunks[T]) len() int { return len(c.full)*chunkLen + len(c.last) }

func (c *chunks[T]) at(i int) *T {
	if k := i / chunkLen; k < len(c.full) {
		return &c.full[k][i%chunkLen]
	}
	return &c.last[i%chunkLen]
}

// join returns the items in one slice, and lets go of each chunk that it has copied.
func (c *chunks[T]) join() []T {
	all := huge.Make[T](c.len())
	parallel.Blocks(len(c.full), 1, func(i, _ int) {
		copy(all[i*chunkLen:], c.full[i])
		c.full[i] = nil
	})
	copy(all[len(c.full)*chunkLen:], c.last)
	return all
}
