package solver

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// TestOverflowLeavesOneX solves systems whose residual is infinite after the first iteration. The x that comes with the error
// has the same bits in every mode, however many iterations are enqueued beyond the last.
func TestOverflowLeavesOneX(t *testing.T) {
	for precision, largest := range map[Precision]int{Single: 128, Double: 1024} {
		elements := sparse.NewTriplets(2, 2)
		for i := range 2 {
			elements.Add(i, i, 1)
			elements.Add(i, 1-i, math.Ldexp(1, largest-40))
		}
		a, err := elements.CSR()
		require.NoError(t, err)
		b := []float64{math.Ldexp(1, 44), math.Ldexp(1, 44)}
		for _, m := range []Method{JacobiIteration, GaussSeidel} {
			var first string
			for _, how := range []Options{{Mode: Eager, CheckEvery: 1}, {Mode: Graph, CheckEvery: 3}, {Mode: Streams, CheckEvery: 16}, {Mode: Loop, CheckEvery: 16}} {
				o := how
				o.Method, o.Precision, o.MaxIterations, o.Strategy = m, precision, 60, "serial"
				x, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
				assert.ErrorAs(t, err, new(*NotFiniteError), m.Name)
				got := fmt.Sprintf("%x after %d: %v", x, res.Iterations, err)
				if first == "" {
					first = got
				}
				assert.Equal(t, first, got, "%s, %v, %v, a check every %d", m.Name, precision, how.Mode, how.CheckEvery)
			}
		}
	}
}
