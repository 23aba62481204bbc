package distribute

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpansHoldTheLastInstanceOfEachByte compares spans with an array of the instances of single bytes.
func TestSpansHoldTheLastInstanceOfEachByte(t *testing.T) {
	const size = 40
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s spans
		var want [size]int32 // 0 for none
		for i := int32(1); i < 30; i++ {
			lo, hi := rng.Int64N(size), rng.Int64N(size)
			is := i
			if rng.IntN(3) == 0 {
				s.clear(lo, hi)
				is = 0
			} else {
				s.set(lo, hi, i)
			}
			for at := lo; at < hi; at++ {
				want[at] = is
			}
			var have [size]int32
			for k, p := range s {
				require.True(t, p.lo < p.hi && (k == 0 || s[k-1].hi <= p.lo), "%v", s)
				for at := p.lo; at < p.hi; at++ {
					have[at] = p.instance
				}
			}
			require.Equal(t, want, have)
			checkQuery(t, s, want[:], rng.Int64N(size), rng.Int64N(size))
		}
	}
}

// checkQuery compares the instances and the gaps of [lo, hi) with those of single bytes.
func checkQuery(t *testing.T, s spans, want []int32, lo, hi int64) {
	present, free := map[int32]bool{}, map[int64]bool{}
	for at := lo; at < hi; at++ {
		if want[at] > 0 {
			present[want[at]] = true
		} else {
			free[at] = true
		}
	}
	s.each(lo, hi, func(i int32) {
		require.True(t, present[i], "instance %d is not in [%d:%d) of %v", i, lo, hi, s)
	})
	for i := range present {
		found := false
		s.each(lo, hi, func(k int32) { found = found || k == i })
		require.True(t, found, "instance %d of [%d:%d) is missing in %v", i, lo, hi, s)
	}
	for a, b := range s.gaps(lo, hi) {
		require.Less(t, a, b)
		for at := a; at < b; at++ {
			require.True(t, free[at], "byte %d is in a gap of %v", at, s)
			delete(free, at)
		}
	}
	require.Empty(t, free, "gaps of [%d:%d) in %v", lo, hi, s)
}

// TestUsesHoldTheLastInstanceOfEachByte does the same for the accesses of the verifier.
func TestUsesHoldTheLastInstanceOfEachByte(t *testing.T) {
	const size = 40
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var s uses
		var want [size]int32
		for i := int32(1); i < 30; i++ {
			lo := rng.Int64N(size)
			hi := lo + 1 + rng.Int64N(size-lo)
			is := i
			if rng.IntN(3) == 0 {
				s.remove(lo, hi)
				is = 0
			} else {
				s.write(use{lo, hi, i})
			}
			for at := lo; at < hi; at++ {
				want[at] = is
			}
			var have [size]int32
			for k, u := range s {
				require.True(t, u.lo < u.hi && (k == 0 || s[k-1].hi <= u.lo), "%v", s)
				for at := u.lo; at < u.hi; at++ {
					have[at] = u.instance
				}
			}
			require.Equal(t, want, have)
		}
	}
}
