package shares

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

func solverProgram(t testing.TB, matrix string, o solver.Options, limited bool) Program {
	a, err := sparse.Generate(matrix)
	require.NoError(t, err)
	return OfSolver(o.Method.Name, a, slices.Repeat([]float64{1}, a.Rows), o, limited, time.Millisecond)
}

// TestSolvers runs solvers beside others. Under every policy, the solutions have the bits of a solution alone.
func TestSolvers(t *testing.T) {
	high := solverProgram(t, "poisson2d:8", solver.Options{Method: solver.CG, CheckEvery: 6}, false)
	for _, low := range []Program{
		solverProgram(t, "poisson2d:8", solver.Options{Method: solver.GMRES, Restart: 7}, false),
		solverProgram(t, "poisson2d:8", solver.Options{Method: solver.JacobiIteration, MaxIterations: 9, CheckEvery: 4}, true),
		workload(t, "vec"),
	} {
		low.gap = 0
		for name, r := range run(t, Config{High: []Program{high}, Low: []Program{low}, Policies: some(t, "fifo:4", "timeslice:1ms", "fikit", "fill"), Requests: 5}) {
			require.NotNil(t, r.OK)
			assert.True(t, *r.OK, "%s beside %s, %s: %s", high.Name, low.Name, name, r.Error)
			assert.Positive(t, r.LowShare, name)
		}
	}
	assert.Equal(t, 10, high.solved.iterations)
}

// TestFlag runs a solver by itself on the device, until the flag stops it. Traces are refused.
func TestFlag(t *testing.T) {
	low := solverProgram(t, "poisson2d:8", solver.Options{Method: solver.CG}, false)
	low.gap = 0
	high := workload(t, "vec")
	high.gap = time.Millisecond
	c := Config{High: []Program{high}, Low: []Program{low}, Policies: some(t, "flag", "fill:2%"), Requests: 5}
	for name, r := range run(t, c) {
		assert.True(t, *r.OK, "%s: %s", name, r.Error)
		assert.Positive(t, r.LowShare)
		assert.Positive(t, r.BoundUS)
	}
	c.Open, c.Usual, c.High = opener, c.Policies[0], []Program{OfTrace(synthetic("high", 2, 20, 10))}
	_, err := Run(t.Context(), c)
	assert.ErrorContains(t, err, "policy flag: high is a trace")
}

// TestRequestsOfSolversBeginAnew destroys what a request has left before the next one.
func TestRequestsOfSolversBeginAnew(t *testing.T) {
	high := solverProgram(t, "poisson2d:8", solver.Options{Method: solver.BiCGSTAB, CheckEvery: 4}, false)
	c := Config{High: []Program{high}, Open: opener}
	require.NoError(t, c.prepare(t.Context()))
	r, err := newRunner(&c, false, true)
	require.NoError(t, err)
	s, err := r.open(some(t, "fill")[0], &high, nil)
	require.NoError(t, err)
	in := r.instances[&high]
	for range 2 {
		for _, o := range in.stages[0].ops {
			c := o.work.(*device.Copy)
			require.NoError(t, r.dev.Write(c.Dst, bytes.Repeat([]byte{0xff}, int(c.Bytes))))
		}
		s.clients[0].start(1, 0)
		require.NoError(t, s.run(t.Context(), s.clients[0]))
		assert.NoError(t, in.check())
	}
	require.NoError(t, device.Join(s.close(), r.close()))
}

// TestSolversThatDoNotConverge expects an error, unless the number of iterations is limited on purpose, and one for a solution
// that differs.
func TestSolversThatDoNotConverge(t *testing.T) {
	c := Config{
		High: []Program{solverProgram(t, "poisson2d:8", solver.Options{Method: solver.JacobiIteration, MaxIterations: 9}, false)},
		Low:  []Program{workload(t, "vec")}, Policies: some(t, "fill"), Requests: 2, Open: opener,
	}
	c.Usual = c.Policies[0]
	_, err := Run(t.Context(), c)
	assert.ErrorAs(t, err, new(*solver.NotConvergedError))

	c.High[0].solved.limited = true
	require.NoError(t, c.High[0].solved.prepare(t.Context(), opener))
	c.High[0].solved.alone[3]++
	records, err := Run(t.Context(), c)
	require.NoError(t, err)
	assert.False(t, *records[0].OK)
	assert.Equal(t, "jacobi: the solution differs from that of a run alone", records[0].Error)
}
