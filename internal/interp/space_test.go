package interp

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory of the host is zeroed each time it is allocated, also after many uses. It is not
// from the Go heap, which would touch every page in order to zero it: arrays of a sampled
// device are larger than the memory of the machine.
func TestHostMemoryIsNoHeap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := NewSpace()
	for _, managed := range []bool{false, true, false, true} {
		alloc := s.HostAlloc
		if managed {
			alloc = s.ManagedAlloc
		}
		const n = 64 << 20
		addr, b, err := alloc(n, "array")
		require.NoError(t, err)
		require.Len(t, b, n)
		require.Zero(t, b[0])
		require.Zero(t, b[n-1])
		b[0], b[n-1] = 1, 2
		size, err := s.Withdraw(addr)
		require.NoError(t, err)
		require.EqualValues(t, n, size)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// More than there are addresses is an error and no panic.
func TestHostMemoryThatThereIsNot(t *testing.T) {
	_, _, err := NewSpace().HostAlloc(1<<60, "array")
	require.ErrorIs(t, err, ErrOutOfMemory)
}
