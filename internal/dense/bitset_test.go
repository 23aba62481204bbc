package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBitsetNeighbours(t *testing.T) {
	s := NewSet(300)
	members := []int{0, 63, 64, 130, 299}
	for _, i := range members {
		s.Add(i)
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
		assert.Equal(t, next, s.Next(i), "next(%d)", i)
		assert.Equal(t, prev, s.Prev(i), "prev(%d)", i)
	}
	assert.Equal(t, len(members), s.Count())
	s.Remove(0)
	assert.Equal(t, -1, s.Prev(62))
	assert.Equal(t, -1, s.Next(320))
}

func TestBitsetNextIn(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 200} {
		all, odd := NewSet(n), NewSet(n)
		all.Fill(n)
		want := -1
		for i := n - 1; i >= 0; i-- {
			if i%2 == 1 {
				odd.Add(i)
				want = i
			}
			assert.Equal(t, i, all.NextIn(all, i))
			assert.Equal(t, want, all.NextIn(odd, i), "%d of %d", i, n)
			assert.Equal(t, want, odd.NextIn(all, i), "%d of %d", i, n)
		}
		assert.Equal(t, -1, all.Next(n), "nothing above %d is filled", n)
	}
}

func TestSetsUnite(t *testing.T) {
	r := rand.New(rand.NewPCG(64, 64))
	for range 100 {
		n := 1 + r.IntN(200)
		s, u, want := NewSet(n), NewSet(n), NewSet(n)
		for i := range n {
			if r.IntN(3) == 0 {
				s.Add(i)
				want.Add(i)
			}
			if r.IntN(3) == 0 {
				u.Add(i)
				want.Add(i)
			}
		}
		s.Unite(u)
		require.Equal(t, want, s)
	}
}
