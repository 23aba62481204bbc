//go:build cuda && cgo

package simabi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
)

// TestHostMemoryLiesWhereGoHasIt expects the addresses of host memory that a Go program gets for the same calls,
// because virtual times depend on them.
func TestHostMemoryLiesWhereGoHasIt(t *testing.T) {
	first := nextPages
	space := interp.NewSpace()
	for _, n := range []int64{1, 4096, 5000, 1 << 20} {
		pages, err := mapHost(n)
		require.NoError(t, err)
		defer unmapHost(pages)
		require.Len(t, pages, int(n))
		want, _, err := space.HostAlloc(n, "the same")
		require.NoError(t, err)
		require.Equal(t, want-interp.FirstHostAddress, uint64(uintptr(unsafe.Pointer(&pages[0])))-first, "%d bytes", n)
	}
}
