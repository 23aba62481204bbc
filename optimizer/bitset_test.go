package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBitsetNeighbours(t *testing.T) {
	s := newBitset(300)
	members := []int{0, 63, 64, 130, 299}
	for _, i := range members {
		s.set(i)
	}
	for i := range 300 {
		next, prev := -1, -1
		for _, m := range members {
			if m >= i && next < 0 {
				next = m
			}
			if m <= i {
				prev = m
			}
		}
		assert.Equal(t, next, s.next(i), "next(%d)", i)
		assert.Equal(t, prev, s.prev(i), "prev(%d)", i)
	}
	s.clear(0)
	assert.Equal(t, -1, s.prev(62))
	assert.Equal(t, -1, s.next(320))
}
