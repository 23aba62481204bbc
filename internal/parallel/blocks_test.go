package parallel_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/parallel"
)

func TestBlocksCoverEachItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 10_000} {
		done := make([]int, n) // the race detector sees an item that two blocks have
		var largest atomic.Int64
		parallel.Blocks(n, 64, func(first, end int) {
			if size := int64(end - first); size > largest.Load() {
				largest.Store(size)
			}
			for i := first; i < end; i++ {
				done[i]++
			}
		})
		for i, times := range done {
			assert.Equal(t, 1, times, fmt.Sprintf("item %d of %d", i, n))
		}
		assert.LessOrEqual(t, largest.Load(), int64(64))
	}
}
