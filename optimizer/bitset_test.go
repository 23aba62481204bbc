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
	assert.Equal(t, len(members), s.count())
	s.clear(0)
	assert.Equal(t, -1, s.prev(62))
	assert.Equal(t, -1, s.next(320))
}

func TestBitsetNextIn(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 200} {
		all, odd := newBitset(n), newBitset(n)
		all.fill(n)
		want := -1
		for i := n - 1; i >= 0; i-- {
			if i%2 == 1 {
				odd.set(i)
				want = i
			}
			assert.Equal(t, i, all.nextIn(all, i))
			assert.Equal(t, want, all.nextIn(odd, i), "%d of %d", i, n)
			assert.Equal(t, want, odd.nextIn(all, i), "%d of %d", i, n)
		}
		assert.Equal(t, -1, all.next(n), "nothing above %d is filled", n)
	}
}
