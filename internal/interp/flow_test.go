package interp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shuffles returns a kernel of n shuffles in the given number of independent chains.
func shuffles(n, chains int) string {
	var b strings.Builder
	b.WriteString(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n")
	fmt.Fprintf(&b, "\t.reg .b32 %%x<%d>;\n", chains)
	for c := range chains {
		fmt.Fprintf(&b, "\tmov.u32 %%x%d, %d;\n", c, c)
	}
	for i := range n {
		fmt.Fprintf(&b, "\tshfl.sync.bfly.b32 %%x%d, %%x%[1]d, 1, 31, -1;\n", i%chains)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// A shuffle takes 24 cycles until its result can be used, and nothing else waits for
// it: chains of them overlap, as chains of additions do.
func TestWarpWideOperationsOverlap(t *testing.T) {
	const n, latency = 64, 24
	for _, chains := range []int{1, 2, 4, 8} {
		d := open(t, "k.ptx", shuffles(n, chains))
		s := d.run("k", Launch{Grid: dims(1, 1, 1), Block: dims(32, 1, 1)})
		require.InDelta(t, n/chains*latency, s.Slowest.Cycles, 20, "%d chains", chains)
	}
}
