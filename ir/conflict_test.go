package ir

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNeedsComeInBatches compares the needs of 40 readers of what 40 have written, in batches and at once.
func TestNeedsComeInBatches(t *testing.T) {
	const n = 40
	g := &Graph{Buffers: []Buffer{{Name: "x", Elem: U8, Len: n}}, Ops: make([]Op, 2*n)}
	for i := range int64(n) {
		g.Ops[i] = Op{Kind: KindHost, Uses: []Access{{Range: Range{0, i, i + 1}, Mode: Write}}}
		g.Ops[n+i] = Op{Kind: KindHost, Uses: []Access{{Range: Range{0, 0, n}, Mode: Read}}, After: []OpID{OpID(i)}}
	}
	var all []conflict
	g.needs(nil, func(needs []conflict) bool { all = append(all, needs...); return true })
	require.Len(t, all, n*n+n)

	for _, size := range []int{1, n, 3 * n, n * n} {
		var batched []conflict
		g.needsBy(size, nil, func(needs []conflict) bool {
			assert.LessOrEqual(t, len(needs), size+n)
			batched = append(batched, needs...)
			return true
		})
		assert.True(t, slices.Equal(all, batched), "batches of %d", size)
	}
	calls := 0
	g.needsBy(n, nil, func([]conflict) bool { calls++; return false })
	assert.Equal(t, 1, calls)
}
