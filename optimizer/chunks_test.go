package optimizer

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChunksJoinWhatWasAppended(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, chunkLen, 3*chunkLen + 1} {
		var c chunks[int]
		var want []int
		for i := 0; len(want) < n; i++ {
			items := make([]int, min(n-len(want), i*i%101))
			for k := range items {
				items[k] = len(want) + k
			}
			c.append(items)
			want = append(want, items...)
		}
		require.Equal(t, n, len(want))
		require.True(t, slices.Equal(want, c.join()))
	}
	var c chunks[int]
	c.append(make([]int, 5*chunkLen)) // more than a chunk at once
	require.Len(t, c.join(), 5*chunkLen)
}
