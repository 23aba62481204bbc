package interp

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Random writes and copies against a set of bytes.
func TestInitialisedAgainstASetOfBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		m := NewMemory(1 << 20)
		m.TrackInitialised()
		const size = 300
		base, written := [2]uint64{}, [2][size]bool{}
		for i := range base {
			base[i], _ = m.Alloc(size, "a")
		}
		for range 40 {
			i, j := rng.IntN(2), rng.IntN(2)
			n := rng.IntN(150)
			at, from := rng.IntN(size-n), rng.IntN(size-n)
			if rng.IntN(3) == 0 {
				m.Initialise(base[i]+uint64(at), uint64(n))
				for k := range n {
					written[i][at+k] = true
				}
			} else if i != j {
				m.CopyInitialised(base[i]+uint64(at), base[j]+uint64(from), uint64(n))
				copy(written[i][at:at+n], written[j][from:])
			}
			gap, bad := m.Uninitialised(base[i]+uint64(at), uint64(n))
			lo := at
			for lo < at+n && written[i][lo] {
				lo++
			}
			hi := lo
			for hi < at+n && !written[i][hi] {
				hi++
			}
			require.Equal(t, lo < at+n, bad)
			if bad {
				require.Equal(t, Span{base[i] + uint64(lo), base[i] + uint64(hi)}, gap)
			}
		}
	}
}

// Every other word of 16 MiB was written. The cost of a copy is proportional to its bytes,
// not to its bytes times the gaps.
func TestInitialisedOfManyGaps(t *testing.T) {
	const size = 16 << 20
	m := NewMemory(2 * size)
	m.TrackInitialised()
	from, err := m.Alloc(size, "from")
	require.NoError(t, err)
	to, err := m.Alloc(size, "to")
	require.NoError(t, err)
	for at := uint64(0); at < size; at += 8 {
		m.Initialise(from+at, 4)
	}
	m.CopyInitialised(to, from, size)
	gap, bad := m.Uninitialised(to+size-8, 8)
	require.True(t, bad)
	require.Equal(t, Span{to + size - 4, to + size}, gap)
}
