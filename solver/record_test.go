package solver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// TestRecordedIterationsSolve replays recorded iterations until they have a result, twice. Everything but the times is
// that of Solve, however many iterations a replay has.
func TestRecordedIterationsSolve(t *testing.T) {
	for _, c := range []struct {
		a *sparse.CSR
		o Options
	}{
		{generate("poisson2d:6"), Options{}},
		{generate("poisson2d:6"), Options{CheckEvery: 3, Preconditioner: Jacobi, X0: random(36, 9)}},
		{generate("spd:20,12,1"), Options{Method: GMRES, Restart: 5, CheckEvery: 7}},
		{sparse.ConvectionDiffusion(4, 2), Options{Method: BiCGSTAB, CheckEvery: 5}},
		{generate("poisson2d:4"), Options{Method: Wave, MaxIterations: 6, CheckEvery: 4}},
		{generate("poisson2d:6"), Options{MaxIterations: 2}},
	} {
		b := random(c.a.Rows, 1)
		want, res, failed := Solve(context.Background(), open(t, sim.Options{}), c.a, b, c.o)
		dev := open(t, sim.Options{})
		it, err := Record(dev, c.a, b, c.o)
		require.NoError(t, err)
		plan, err := optimizer.Plan(it.Trace.Graph, optimizer.Options{})
		require.NoError(t, err)
		exec, err := graphexec.Instantiate(dev, plan.Schedule, it.Trace, graphexec.Graph)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, it.Load())
			_, _, err = it.Solution()
			assert.ErrorAs(t, err, new(*NotConvergedError), "before the first iteration")
			for ended, done := false, 0; !ended; done++ {
				require.LessOrEqual(t, done*it.Count, res.Iterations)
				require.NoError(t, exec.Replay(context.Background()))
				ended, err = it.Check()
				require.NoError(t, err)
			}
			x, got, err := it.Solution()
			assert.Equal(t, failed, err)
			assert.Equal(t, want, x)
			got.Time, got.TimePerIteration, got.Lanes = res.Time, res.TimePerIteration, res.Lanes
			assert.Equal(t, res, got)
		}
		require.NoError(t, device.Join(exec.Close(), it.Close(), it.Close()))
	}
}

// TestRecordRefuses expects the errors of systems and options that cannot be recorded.
func TestRecordRefuses(t *testing.T) {
	dev, a := open(t, sim.Options{}), generate("poisson2d:2")
	_, err := Record(dev, a, make([]float64, 4), Options{})
	assert.ErrorContains(t, err, "the initial guess solves the system")
	_, err = Record(dev, a, make([]float64, 3), Options{})
	assert.ErrorAs(t, err, new(*ShapeError))
	_, err = Record(dev, a, make([]float64, 4), Options{CheckEvery: -1})
	assert.ErrorAs(t, err, new(*OptionError))
}
