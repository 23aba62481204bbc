package programs

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestResultHashes states the hashes of results, the grid of the last step before that of the step before. The C++ programs of
// baseline/scale compute the same bytes on any number of devices, which scripts/baseline-asan.sh compares with this file.
func TestResultHashes(t *testing.T) {
	datadriven.RunTest(t, "testdata/hashes", func(t *testing.T, d *datadriven.TestData) string {
		var steps int
		d.ScanArgs(t, "steps", &steps)
		p, err := Parse(d.Input)
		require.NoError(t, err)
		perReplay := 2
		if p.Kind == jacobi {
			perReplay = p.Extents[1]
		}
		require.Zero(t, steps%perReplay)
		in, _ := replayed(t, d.Input, steps/perReplay)
		var hash uint64
		for _, b := range in.Results()[:2] {
			grid := make([]float32, b.Len())
			require.NoError(t, tracer.Read(grid, b))
			hash = input.Hash(hash, grid)
		}
		return fmt.Sprintf("%016x\n", hash)
	})
}
