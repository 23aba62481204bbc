package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEntriesComeInOrderOfKeyThenID(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 51))
	for range 300 {
		var q Heap[Entry[int]]
		var all []Entry[int]
		for id := range int32(r.IntN(40)) {
			x := Entry[int]{r.IntN(8), id}
			all = append(all, x)
			q.Push(x)
		}
		slices.SortFunc(all, func(a, b Entry[int]) int {
			if a.Key != b.Key {
				return a.Key - b.Key
			}
			return int(a.ID - b.ID)
		})
		for _, x := range all {
			require.Equal(t, x, q.Pop())
		}
		require.Empty(t, q)
	}
}
