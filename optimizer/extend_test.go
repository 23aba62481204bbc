package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list of as many items for each operation grows a few times, and has little room to spare in the end.
func TestExtendForeseesTheLength(t *testing.T) {
	const ops, each = 100_000, 3
	var list []int
	grown := 0
	for v := range ops {
		before := cap(list)
		list = extend(list, each, v+1, ops)
		if cap(list) != before {
			grown++
		}
		for range each {
			list = append(list, len(list))
		}
	}
	assert.Less(t, grown, 8)
	assert.Less(t, cap(list), len(list)+len(list)/8)
	for i, item := range list {
		require.Equal(t, i, item)
	}
}

// A list that is long at first does not reserve what it never needs, and gives the rest back.
func TestExtendIsBounded(t *testing.T) {
	list := make([]int, 0, 1000)
	for v := range 10 {
		list = append(extend(list, 100, v+1, 1<<40), make([]int, 100)...)
	}
	list = extend(list, 1, 11, 1<<40)
	assert.LessOrEqual(t, cap(list), maxGrowth*1001)
	exact := trimmed(list)
	assert.Equal(t, list, exact)
	assert.Equal(t, len(list), cap(exact))
	assert.Nil(t, trimmed[int](nil))
}
