package interp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHolesAgainstATable takes and frees ranges of 256 addresses at random.
func TestHolesAgainstATable(t *testing.T) {
	const all = 256
	rnd := rand.New(rand.NewPCG(4, 11))
	var free [all]bool
	var h holes
	for range 1000 {
		n, align := 1+rnd.Uint64N(40), uint64(1)<<rnd.UintN(7)
		if rnd.IntN(2) == 0 {
			base := rnd.Uint64N(all - n)
			for base > 0 && !free[base] && rnd.IntN(3) > 0 { // often beside a hole
				base--
			}
			if slices.Contains(free[base:base+n], true) {
				continue
			}
			h.add(base, base+n)
			mark(free[base:base+n], true)
			continue
		}
		want, found := firstFit(free[:], n, align)
		base, ok := h.take(n, align)
		require.Equal(t, found, ok)
		if ok {
			require.Equal(t, want, base)
			mark(free[base:base+n], false)
		}
		for i, o := range h {
			require.Less(t, o.Lo, o.Hi)
			require.False(t, slices.Contains(free[o.Lo:o.Hi], false))
			require.False(t, i > 0 && h[i-1].Hi >= o.Lo, "two holes touch")
		}
	}
	_, ok := h.take(1<<63, 1)
	require.False(t, ok)
	_, ok = h.take(1, 1<<63)
	require.Equal(t, len(h) > 0 && h[0].Lo == 0, ok)
}

func mark(list []bool, v bool) {
	for i := range list {
		list[i] = v
	}
}

func firstFit(free []bool, n, align uint64) (uint64, bool) {
	for base := uint64(0); base+n <= uint64(len(free)); base += align {
		if !slices.Contains(free[base:base+n], false) {
			return base, true
		}
	}
	return 0, false
}
