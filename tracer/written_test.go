package tracer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
)

// The operations on extents agree with a table of bytes.
func TestExtents(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	for range 200 {
		var e extents
		var bytes [40]bool
		for range 8 {
			lo := r.Int64N(40)
			hi := lo + r.Int64N(40-lo+1)
			e.add(lo, hi)
			for i := lo; i < hi; i++ {
				bytes[i] = true
			}
			lo = r.Int64N(40)
			hi = lo + r.Int64N(min(6, 40-lo)+1)
			all := true
			for i := lo; i < hi; i++ {
				all = all && bytes[i]
			}
			require.Equal(t, all, e.has(lo, hi))
		}
		for i := 1; i < len(e); i++ {
			require.Less(t, e[i-1].hi, e[i].lo)
		}
	}
}

// A buffer is unwritten until Write or HostBytes has covered every byte that the program reads before it
// writes it.
func TestUnwritten(t *testing.T) {
	dev := null.New()
	tr := New(dev, "unwritten", Deferred)
	host := tr.AllocHost("in", ir.F32, 8, ir.Input)
	x, y := tr.Alloc("x", ir.F32, 8, ir.InOut), tr.Alloc("y", ir.F32, 8, ir.Output)
	tr.Copy(y.Slice(0, 4), host.Slice(0, 4))
	tr.Memset(y.Slice(4, 8), 0)
	tr.Copy(x.Slice(4, 8), y.Slice(2, 6))
	tr.Copy(y, x)
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.Equal(t, "in", view{trace}.Unwritten())
	require.NoError(t, Read(make([]float32, 8), host))
	require.Equal(t, "in", view{trace}.Unwritten(), "reading is not writing")
	require.NoError(t, Write(host.Slice(0, 3), make([]float32, 3)))
	require.Equal(t, "in", view{trace}.Unwritten())
	host.Slice(3, 4).HostBytes()
	require.Equal(t, "x", view{trace}.Unwritten())
	require.NoError(t, Write(x.Slice(0, 4), make([]float32, 4)))
	require.Empty(t, view{trace}.Unwritten())
	require.NoError(t, trace.Close())

	require.Empty(t, view{&Trace{}}.Unwritten())
	require.NoError(t, dev.Close())
}
