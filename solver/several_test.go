package solver

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

func matrices(a ...*sparse.CSR) []*sparse.CSR { return a }

// sides returns n right-hand sides.
func sides(a *sparse.CSR, n int) (b [][]float64) {
	for i := range n {
		b = append(b, random(a.Rows, uint64(i+1)))
	}
	return b
}

// Several systems at the same time have the bits that each has alone: residuals, iterations and solutions, in every
// mode, with merged launches and without, and also where they end at different iterations.
func TestSeveralSystemsAreThoseSolvedOneByOne(t *testing.T) {
	square := generate("poisson2d:4")
	for name, c := range map[string]struct {
		a []*sparse.CSR
		b [][]float64
		o Options
	}{
		"right-hand sides":    {matrices(square), sides(square, 3), Options{}},
		"matrices":            {matrices(square, generate("poisson3d:2"), generate("spd:20,12,1")), [][]float64{random(16, 1), random(8, 2), random(20, 3)}, Options{}},
		"preconditioned":      {matrices(square), sides(square, 2), Options{Preconditioner: Jacobi, X0: random(16, 9)}},
		"single precision":    {matrices(square), sides(square, 2), Options{Precision: Single}},
		"a zero among them":   {matrices(square), [][]float64{random(16, 1), make([]float64, 16), random(16, 2)}, Options{}},
		"one right-hand side": {matrices(square), sides(square, 1), Options{}},
		"BiCGSTAB":            {matrices(sparse.ConvectionDiffusion(4, 2)), sides(sparse.ConvectionDiffusion(4, 2), 2), Options{Method: BiCGSTAB}},
		"cycles of GMRES":     {matrices(square), sides(square, 2), Options{Method: GMRES, Restart: 5}},
		"steps":               {matrices(square), sides(square, 2), Options{Method: Wave, MaxIterations: 6}},
		"hubs":                {matrices(square), [][]float64{positive(16), positive(16)}, Options{Method: HITS}},
	} {
		var want []solution
		for i := range c.b {
			x, res, err := Solve(context.Background(), open(t, sim.Options{}), c.a[i%len(c.a)], c.b[i], c.o)
			require.NoError(t, err, name)
			want = append(want, solution{x, res, nil})
		}
		for _, mode := range Modes() {
			for _, also := range [][]string{nil, {"merge"}} {
				if also != nil && (mode == Eager || mode == Auto) {
					continue // no plan
				}
				about := fmt.Sprintf("%s, %v %v", name, mode, also)
				o, race := c.o, sim.RaceOff
				if also != nil {
					race = sim.RaceOn
				}
				o.Mode, o.Also, o.CheckEvery, o.Strategy = mode, also, 4, "nimble"
				x, results, err := SolveAll(context.Background(), open(t, sim.Options{Race: race}), c.a, c.b, o)
				require.NoError(t, err, about)
				require.Len(t, x, len(c.b), about)
				for i, alone := range want {
					assert.Equal(t, alone.x, x[i], "%s: system %d", about, i)
					assert.Equal(t, alone.res.History, results[i].History, "%s: system %d", about, i)
					assert.Equal(t, alone.res.Iterations, results[i].Iterations, "%s: system %d", about, i)
					assert.Equal(t, alone.res.TrueResidual, results[i].TrueResidual, "%s: system %d", about, i)
					assert.Equal(t, alone.res.Authorities, results[i].Authorities, "%s: system %d", about, i)
				}
			}
		}
	}
}

// The systems of docs/SOLVERS.md: merged launches never take longer as measured in virtual time, and with many
// right-hand sides they take much less.
func TestMergedSystemsAreNeverSlower(t *testing.T) {
	for _, c := range []struct {
		method  Method
		matrix  string
		systems int
		mode    Mode
		gain    float64
	}{
		{CG, "poisson2d:64", 2, Graph, 1}, {CG, "poisson2d:64", 32, Graph, 1.5}, {CG, "poisson2d:64", 8, Streams, 5}, {CG, "poisson2d:64", 32, Loop, 1.3},
		{CG, "poisson2d:256", 2, Graph, 1}, {CG, "poisson2d:256", 8, Graph, 1}, {CG, "poisson2d:256", 8, Streams, 2},
		{JacobiIteration, "poisson2d:64", 32, Graph, 1}, // bound by the device, including the gap between two replays
		{BiCGSTAB, "poisson2d:64", 32, Graph, 1},        // barriers take longer on a multiprocessor with more warps
	} {
		if testing.Short() && (c.mode == Loop || c.method.Name != CG.Name) {
			continue
		}
		a := generate("%s", c.matrix)
		measure := func(also ...string) float64 {
			dev := open(t, sim.Options{Sample: 4})
			_, results, err := SolveAll(context.Background(), dev, matrices(a), sides(a, c.systems), Options{Method: c.method, Mode: c.mode, Strategy: "nimble", Also: also, MaxIterations: 16, Sampled: true})
			require.NoError(t, err)
			return results[0].TimePerIteration.Seconds()
		}
		assert.GreaterOrEqual(t, measure()/measure("merge"), c.gain, "%s of %s, %d systems, %v", c.method.Name, c.matrix, c.systems, c.mode)
	}
}

func TestSolveAllRefuses(t *testing.T) {
	a, b := generate("poisson2d:3"), random(9, 1)
	_, _, err := SolveAll(context.Background(), open(t, sim.Options{}), matrices(a), nil, Options{})
	assert.EqualError(t, err, "no right-hand side: pass one for each system")
	_, _, err = SolveAll(context.Background(), open(t, sim.Options{}), matrices(a, a), [][]float64{b, b, b}, Options{})
	assert.EqualError(t, err, "there are 2 matrices and 3 right-hand sides: pass one matrix for all, or one for each")
	_, _, err = SolveAll(context.Background(), open(t, sim.Options{}), matrices(a), [][]float64{b, b[1:]}, Options{})
	assert.ErrorContains(t, err, "system 1: ")
	asError[*ShapeError](t, err)

	periods := Method{Name: "periods", Trace: func(s *System) func() {
		s.Period = s.N
		norm := s.Scalar("norm", 1)
		return func() {
			for range s.N {
				s.Check(norm)
			}
		}
	}}
	_, _, err = SolveAll(context.Background(), open(t, sim.Options{}), matrices(a, generate("poisson2d:2")), [][]float64{b, b[:4]}, Options{Method: periods})
	assert.ErrorContains(t, err, "System.Period is 4 for system 1 and 9 for system 0: solve systems with different periods one by one")
}

// Each system ends by an error of its own, with its iterate; the others are solved.
func TestErrorsOfSeveralSystems(t *testing.T) {
	good, indefinite := generate("poisson2d:3"), diagonal(t, 1, -1)
	x, results, err := SolveAll(context.Background(), open(t, sim.Options{}), matrices(good, indefinite, good), [][]float64{random(9, 1), {1, 1}, random(9, 2)}, Options{MaxIterations: 40})
	assert.ErrorContains(t, err, "system 1: ")
	asError[*BreakdownError](t, err)
	for _, i := range []int{0, 2} {
		assert.LessOrEqual(t, results[i].TrueResidual, 1e-7)
		want, _, err := Solve(context.Background(), open(t, sim.Options{}), good, random(9, uint64(i/2+1)), Options{})
		require.NoError(t, err)
		assert.Equal(t, want, x[i])
	}
	assert.Len(t, x[1], 2)
}
