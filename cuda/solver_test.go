//go:build cuda && cgo

package cuda

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// TestSolversOnTheDriver runs the solvers on this driver. All modes must end at the same iteration with the
// same bits. Solve itself checks the solution on the CPU.
func TestSolversOnTheDriver(t *testing.T) {
	a, err := sparse.Generate("spd:70,6,1")
	require.NoError(t, err)
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = float64(i%5) - 1
	}
	for _, m := range []solver.Method{solver.CG, solver.BiCGSTAB, solver.GMRES, solver.GaussSeidel} {
		var want []float64
		var first solver.Result
		for _, mode := range solver.Modes() {
			x, res, err := solver.Solve(context.Background(), open(t), a, b, solver.Options{Method: m, Mode: mode, Restart: 8})
			require.NoError(t, err, "%s, %v", m.Name, mode)
			if want == nil {
				want, first = x, res
			}
			assert.Equal(t, want, x, "%s, %v", m.Name, mode)
			assert.Equal(t, first.History, res.History, "%s, %v", m.Name, mode)
		}
	}
}
