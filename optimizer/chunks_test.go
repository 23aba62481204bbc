package optimizer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChunksKeepWhatWasAppended(t *testing.T) {
	for _, n := range []int{0, 1, 64, chunkLen, chunkLen + 1, 3*chunkLen + 1} {
		var c chunks[int]
		for i := range n {
			c.append(i)
		}
		require.Equal(t, n, c.len())
		for i := range n {
			require.Equal(t, i, *c.at(i))
		}
		all := c.join()
		require.Len(t, all, n)
		for i, item := range all {
			require.Equal(t, i, item)
		}
	}
}
