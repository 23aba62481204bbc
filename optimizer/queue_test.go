package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueueIsInOrderOfKeyThenID(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 51))
	for range 300 {
		var q queue[int]
		var all []queued[int]
		for id := range int32(r.IntN(40)) {
			x := queued[int]{r.IntN(8), id}
			all = append(all, x)
			q.push(x.key, x.id)
		}
		slices.SortFunc(all, func(a, b queued[int]) int {
			if a.key != b.key {
				return a.key - b.key
			}
			return int(a.id - b.id)
		})
		for _, x := range all {
			require.Equal(t, x, q.pop())
		}
		require.Empty(t, q)
	}
}
