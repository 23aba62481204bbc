package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// open is a simulated device that has to be left as it was found.
func open(t *testing.T, o sim.Options) *sim.Device {
	t.Helper()
	dev, err := sim.New(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.Empty(t, dev.Findings())
		assert.Zero(t, dev.Live(), "what is left on the device")
		assert.NoError(t, dev.Close())
	})
	return dev
}

// generate returns the matrix of a specification of sparse.Generate, a format with its arguments.
func generate(format string, args ...any) *sparse.CSR {
	a, err := sparse.Generate(fmt.Sprintf(format, args...))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return a
}

// random is a right-hand side.
func random(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	b := make([]float64, n)
	for i := range b {
		b[i] = rng.NormFloat64()
	}
	return b
}

// positive is one with weights.
func positive(n int) []float64 {
	b := random(n, 1)
	for i, v := range b {
		b[i] = math.Abs(v)
	}
	return b
}

// direct is the solution by gonum's LU decomposition.
func direct(t *testing.T, a *sparse.CSR, b []float64) []float64 {
	t.Helper()
	var x mat.VecDense
	require.NoError(t, x.SolveVec(dense(a), mat.NewVecDense(len(b), b)))
	return x.RawVector().Data
}

// linear are the methods for Ax = b.
func linear() (list []Method) {
	for _, m := range Methods() {
		if m.problem == nil {
			list = append(list, m)
		}
	}
	return list
}

// suited are systems that a method is for.
func suited(m Method) map[string]*sparse.CSR {
	systems := map[string]*sparse.CSR{
		"one point": generate("poisson2d:1"),
		"cube":      generate("poisson3d:4"),
		"random":    generate("spd:60,12,1"), // its rows are long enough to be shared
	}
	if !m.Symmetric {
		systems["wind"] = sparse.ConvectionDiffusion(7, 2)
	} else {
		systems["square"] = generate("poisson2d:7")
	}
	return systems
}

func TestSolutionIsThatOfGonum(t *testing.T) {
	for _, m := range linear() {
		for name, a := range suited(m) {
			b, x0 := random(a.Rows, 1), random(a.Rows, 2)
			want := direct(t, a, b)
			for pre, start := range map[Preconditioner][]float64{None: nil, Jacobi: x0} {
				about := fmt.Sprintf("%s of %s, preconditioner %v", m.Name, name, pre)
				dev := open(t, sim.Options{Race: sim.RaceOn})
				x, res, err := Solve(context.Background(), dev, a, b, Options{Method: m, Preconditioner: pre, Tolerance: 1e-10, X0: start, Restart: 10})
				require.NoError(t, err, about)
				assert.InDeltaSlice(t, want, x, 1e-7*norm(want), about)
				assert.LessOrEqual(t, res.TrueResidual, 2e-10, about)
				assert.Len(t, res.History, res.Iterations+1, about)
			}
		}
	}
}

// Every mode, and every lowering of a loop, stops at the same iteration with the same bits, however often the host looks.
func TestModesAgree(t *testing.T) {
	for _, m := range Methods() {
		a := generate("poisson2d:5")
		if m.Name == PageRank.Name {
			a = web(t, 25, 1)
		}
		b := positive(a.Rows)
		for precision, pre := range map[Precision]Preconditioner{Double: None, Single: Jacobi} {
			if m.problem != nil {
				pre = None
			}
			var first []float64
			var result Result
			for _, how := range []Options{
				{Mode: Eager, CheckEvery: 1}, {Mode: Streams, CheckEvery: 7}, {Mode: Graph, CheckEvery: 400},
				{Mode: Loop, CheckEvery: 5, Lowering: loop.HostChecked},
				{Mode: Loop, CheckEvery: 3, Lowering: loop.Unrolled},
				{Mode: Loop, Lowering: loop.WhileNode},
			} {
				o := how
				o.Method, o.Preconditioner, o.Precision, o.Tolerance, o.Restart = m, pre, precision, 1e-4, 4
				if m.Name == "heat" || m.Name == "wave" {
					o.MaxIterations = 31
				}
				x, res, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), a, b, o)
				about := fmt.Sprintf("%s, preconditioner %v, %v, mode %v, lowering %v, a check every %d", m.Name, pre, precision, how.Mode, how.Lowering, how.CheckEvery)
				require.NoError(t, err, about)
				if first == nil {
					first, result = x, res
				}
				assert.Equal(t, first, x, about)
				assert.Equal(t, result.Iterations, res.Iterations, about)
				assert.Equal(t, result.History, res.History, about)
				assert.Equal(t, result.Operations, res.Operations, about)
			}
		}
	}
}

// In exact arithmetic conjugate gradients need as many iterations as the matrix has distinct
// eigenvalues, here 3.
func TestCGTakesAnIterationForEachEigenvalue(t *testing.T) {
	elements := sparse.NewTriplets(60, 60)
	for i := range 60 {
		elements.Add(i, i, []float64{1, 4, 9}[i%3])
	}
	a, err := elements.CSR()
	require.NoError(t, err)
	_, res, err := Solve(context.Background(), open(t, sim.Options{}), a, random(60, 1), Options{Tolerance: 1e-12})
	require.NoError(t, err)
	assert.Equal(t, 3, res.Iterations)
	_, res, err = Solve(context.Background(), open(t, sim.Options{}), a, random(60, 1), Options{Tolerance: 1e-12, Preconditioner: Jacobi})
	require.NoError(t, err)
	assert.Equal(t, 1, res.Iterations, "preconditioned, the matrix is the identity")
}

func TestPoissonOf64Squared(t *testing.T) {
	a := generate("poisson2d:64")
	b := random(a.Rows, 1)
	times := map[Mode]float64{}
	iterations := map[int]bool{}
	for _, mode := range Modes() {
		_, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Mode: mode, Tolerance: 9e-9})
		require.NoError(t, err)
		assert.LessOrEqual(t, res.TrueResidual, 1e-8)
		iterations[res.Iterations] = true
		times[mode] = float64(res.TimePerIteration)
	}
	assert.Len(t, iterations, 1, "the same number in every mode")
	assert.Less(t, times[Graph], 0.7*times[Eager], "an iteration as a graph, in virtual time")
	assert.Less(t, times[Streams], 0.8*times[Eager], "and over streams")
}

// GMRES without a restart has the least residual in the Krylov space, where those of BiCGSTAB are, and of
// Jacobi's method for a constant diagonal; and it ends after as many iterations as there are unknowns.
func TestGMRESIsMinimal(t *testing.T) {
	a := sparse.ConvectionDiffusion(5, 2)
	b := random(a.Rows, 1)
	_, best, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Method: GMRES, Mode: Eager, Restart: 25, Tolerance: 1e-12})
	require.NoError(t, err)
	assert.LessOrEqual(t, best.Iterations, 25)
	for _, m := range []Method{BiCGSTAB, JacobiIteration} {
		_, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Method: m})
		require.NoError(t, err)
		products := 1 // of the matrix, in an iteration
		if m.Name == "bicgstab" {
			products = 2
		}
		for k, r := range res.History {
			if k*products < len(best.History) {
				assert.LessOrEqual(t, best.History[k*products], r*(1+1e-9)+1e-12, "%s, iteration %d", m.Name, k)
			}
		}
	}

	singular := diagonal(t, 1, 0)
	_, _, err = Solve(context.Background(), open(t, sim.Options{}), singular, []float64{0, 1}, Options{Method: GMRES, Restart: 2})
	asError[*BreakdownError](t, err)
}

// A power of two changes no bit of a solution but the exponent, so that neither large nor
// small numbers overflow when they are squared.
func TestScaleOfTheRightHandSide(t *testing.T) {
	a := generate("poisson2d:6")
	b := random(a.Rows, 1)
	for _, precision := range []Precision{Double, Single} {
		want, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Precision: precision})
		require.NoError(t, err)
		for _, exponent := range []int{-1000, -130, 130, 1000, 1021} {
			x, _, err := Solve(context.Background(), open(t, sim.Options{}), a, scaled(b, math.Ldexp(1, exponent)), Options{Precision: precision})
			require.NoError(t, err)
			assert.Equal(t, scaled(want, math.Ldexp(1, exponent)), x)
		}
	}
}

// times is a matrix with all elements multiplied.
func times(a *sparse.CSR, factor float64) *sparse.CSR {
	b := *a
	b.Val = scaled(a.Val, factor)
	return &b
}

// So does one of the matrix.
func TestScaleOfTheMatrix(t *testing.T) {
	a := generate("poisson2d:4")
	b := random(a.Rows, 1)
	for precision, exponents := range map[Precision][]int{Double: {-900, 900}, Single: {-110, 110}} {
		for _, m := range linear() {
			o := Options{Method: m, Precision: precision, Restart: 8, X0: random(a.Rows, 2), Preconditioner: Preconditioner(m.Name[0] % 2)}
			want, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
			require.NoError(t, err)
			for _, exponent := range exponents {
				factor := math.Ldexp(1, exponent)
				o.X0 = scaled(random(a.Rows, 2), 1/factor)
				x, _, err := Solve(context.Background(), open(t, sim.Options{}), times(a, factor), b, o)
				require.NoError(t, err, "%s, 2^%d", m.Name, exponent)
				assert.Equal(t, scaled(want, 1/factor), x, "%s, 2^%d", m.Name, exponent)
			}
		}
	}
}

// A sampled device computes nothing, and has a time for as many iterations as are asked for.
func TestSampled(t *testing.T) {
	a := generate("poisson2d:128")
	b := random(a.Rows, 1)
	for _, m := range []Method{CG, GMRES, Wave} {
		o := Options{Method: m, MaxIterations: 41, Restart: 5, Sampled: true}
		x, res, err := Solve(context.Background(), open(t, sim.Options{Sample: 2}), a, b, o)
		require.NoError(t, err)
		assert.Nil(t, x)
		assert.Empty(t, res.History)
		assert.GreaterOrEqual(t, res.Iterations, 41)
		assert.Positive(t, res.TimePerIteration)

		o.Mode = Loop // also where every block runs, of which some come to something
		_, res, err = Solve(context.Background(), open(t, sim.Options{Sample: 1024}), a, b, o)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, res.Iterations, 41, m.Name)
	}
	whole := Options{MaxIterations: 16}
	_, want, err := Solve(context.Background(), open(t, sim.Options{}), a, b, whole)
	asError[*NotConvergedError](t, err)
	whole.Sampled = true
	_, res, err := Solve(context.Background(), open(t, sim.Options{Sample: 8}), a, b, whole)
	require.NoError(t, err)
	assert.InEpsilon(t, float64(want.TimePerIteration), float64(res.TimePerIteration), 0.1)
}

func TestNothingToDo(t *testing.T) {
	a := generate("poisson2d:3")
	dev := open(t, sim.Options{})
	x, res, err := Solve(context.Background(), dev, a, make([]float64, 9), Options{X0: random(9, 1)})
	require.NoError(t, err)
	assert.Equal(t, make([]float64, 9), x, "of zeros")
	assert.Zero(t, res.Iterations)

	solution := random(9, 1)
	b := make([]float64, 9)
	a.Mul(b, solution)
	x, res, err = Solve(context.Background(), dev, a, b, Options{X0: solution, Preconditioner: Jacobi})
	require.NoError(t, err)
	assert.InDeltaSlice(t, solution, x, 1e-12, "of the solution")
	assert.Zero(t, res.Iterations)
	assert.Less(t, res.TrueResidual, 1e-12)

	x, _, err = Solve(context.Background(), dev, &sparse.CSR{Ptr: []int32{0}}, nil, Options{})
	require.NoError(t, err)
	assert.Empty(t, x, "of nothing")
}

// asError is err as an error of type E.
func asError[E error](t *testing.T, err error) E {
	t.Helper()
	var e E
	require.ErrorAs(t, err, &e)
	return e
}

func TestInputThatCannotBeSolved(t *testing.T) {
	square := generate("poisson2d:2")
	spoilt := func(v float64) *sparse.CSR {
		a := generate("poisson2d:2")
		a.Val[2] = v
		return a
	}
	hollow := generate("poisson2d:2")
	hollow.Val[0] = 0
	ones := []float64{1, 1, 1, 1}
	for _, c := range []struct {
		a       *sparse.CSR
		b       []float64
		o       Options
		message string
		typed   any
	}{
		{&sparse.CSR{Rows: 2, Cols: 3}, ones, Options{}, "the matrix is 2 x 3: it has to be square", new(*ShapeError)},
		{square, ones[:3], Options{}, "b has 3 elements for a matrix of 4 rows", new(*ShapeError)},
		{square, nil, Options{}, "b has 0 elements for a matrix of 4 rows", new(*ShapeError)},
		{square, ones, Options{X0: ones[:1]}, "x0 has 1 elements for a matrix of 4 rows", new(*ShapeError)},
		{square, []float64{1, 1, math.NaN(), 1}, Options{}, "b[2] is NaN", new(*NotFiniteError)},
		{square, ones, Options{X0: []float64{math.Inf(1), 0, 0, 0}}, "x0[0] is +Inf", new(*NotFiniteError)},
		{spoilt(math.NaN()), ones, Options{}, "element (0, 2) of the matrix (counted from 0) is NaN", new(*NotFiniteError)},
		{spoilt(1e200), ones, Options{Precision: Single}, "element (0, 2) of the matrix (counted from 0) is 1e+200", new(*NotFiniteError)},
		{spoilt(-2), ones, Options{}, "cg takes symmetric matrices, and of this element (0, 2) is -2 and (2, 0) is -1", new(*SymmetryError)},
		{hollow, ones, Options{Preconditioner: Jacobi}, "cg breaks down in iteration 1: it divides by the diagonal, of which element 0 is 0", new(*BreakdownError)},
		{&sparse.CSR{Rows: 2, Cols: 2, Ptr: []int32{0, 1, 1}, Col: []int32{5}, Val: []float64{1}}, ones[:2], Options{}, "row 0 has column 5", nil},
		{square, ones, Options{Tolerance: 2}, "option Tolerance is 2: use a number between 0 and 1", new(*OptionError)},
		{square, ones, Options{Tolerance: math.NaN()}, "option Tolerance is NaN", new(*OptionError)},
		{square, ones, Options{Divergence: 0.5}, "option Divergence is 0.5: use more than 1", new(*OptionError)},
		{square, ones, Options{MaxIterations: -1}, "option MaxIterations is -1: use 1 to 67108864", new(*OptionError)},
		{square, ones, Options{CheckEvery: -1}, "option CheckEvery is -1: use 1 or more", new(*OptionError)},
		{square, ones, Options{Lanes: 3}, "option Lanes is 3: use a power of two", new(*OptionError)},
		{square, ones, Options{Restart: 256}, "option Restart is 256: use 1 to 255", new(*OptionError)},
		{square, ones, Options{Batch: -1}, "option Batch is -1: use a divisor of CheckEvery (16), or with Lowering unrolled a multiple", new(*OptionError)},
		{square, ones, Options{Batch: 7}, "option Batch is 7: use", new(*OptionError)},
		{square, ones, Options{Batch: 32, Lowering: loop.WhileNode}, "option Batch is 32: use", new(*OptionError)},
		{square, ones, Options{Lowering: 9}, "option Lowering is 9", new(*OptionError)},
		{square, ones, Options{Mode: 9}, "option Mode is 9", new(*OptionError)},
		{square, ones, Options{Strategy: "fast"}, "fast", nil},
	} {
		x, _, err := Solve(context.Background(), open(t, sim.Options{}), c.a, c.b, c.o)
		assert.Nil(t, x)
		require.ErrorContains(t, err, c.message)
		if c.typed != nil {
			assert.ErrorAs(t, err, c.typed)
		}
	}
}

// TestBatchesAreRoundedToPeriods solves by batches that fit looks as iterations, and not as periods of two or four.
func TestBatchesAreRoundedToPeriods(t *testing.T) {
	a, b := generate("poisson2d:5"), make([]float64, 25)
	b[3] = 1
	for _, o := range []Options{
		{Method: Heat, MaxIterations: 30, CheckEvery: 15, Batch: 5},
		{Method: Wave, MaxIterations: 30, CheckEvery: 5, Batch: 15, Lowering: loop.Unrolled},
		{Method: GMRES, Restart: 4, CheckEvery: 9, Batch: 3, Lowering: loop.WhileNode},
		{Method: GMRES, Restart: 4, CheckEvery: 7, Batch: 21, Lowering: loop.Unrolled},
	} {
		want, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
		require.NoError(t, err)
		o.Mode = Loop
		x, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
		require.NoError(t, err, "%s, a check every %d, batches of %d", o.Method.Name, o.CheckEvery, o.Batch)
		assert.Equal(t, want, x)
	}
}

func TestElementsMissingOnOneSideAreNotSymmetric(t *testing.T) {
	for _, at := range [][2]int{{0, 2}, {2, 0}, {1, 2}, {2, 1}} {
		elements := sparse.NewTriplets(3, 3)
		for i := range 3 {
			elements.Add(i, i, 1)
		}
		elements.Add(at[0], at[1], 5)
		a, err := elements.CSR()
		require.NoError(t, err)
		_, _, err = Solve(context.Background(), open(t, sim.Options{}), a, []float64{1, 1, 1}, Options{})
		e := asError[*SymmetryError](t, err)
		assert.ElementsMatch(t, []float64{0, 5}, []float64{e.Upper, e.Lower})
		assert.ElementsMatch(t, at[:], []int{e.Row, e.Col})
	}
}

// diagonal is a matrix of these elements.
func diagonal(t *testing.T, d ...float64) *sparse.CSR {
	t.Helper()
	elements := sparse.NewTriplets(len(d), len(d))
	for i, v := range d {
		elements.Add(i, i, v)
	}
	a, err := elements.CSR()
	require.NoError(t, err)
	return a
}

func TestOutcomes(t *testing.T) {
	for _, mode := range Modes() {
		solve := func(a *sparse.CSR, b []float64, o Options) ([]float64, Result, error) {
			t.Helper()
			o.Mode = mode
			return Solve(context.Background(), open(t, sim.Options{}), a, b, o)
		}
		x, res, err := solve(diagonal(t, 1, -1), []float64{1, 1}, Options{})
		breakdown := asError[*BreakdownError](t, err)
		assert.Equal(t, &BreakdownError{"cg", 1, CG.Breakdown}, breakdown)
		assert.Equal(t, []float64{0, 0}, x, "the last iterate")
		assert.Zero(t, res.Iterations)

		x, res, err = solve(generate("poisson2d:9"), random(81, 1), Options{MaxIterations: 5})
		short := asError[*NotConvergedError](t, err)
		assert.Equal(t, 5, short.Iterations)
		assert.Equal(t, 5, res.Iterations)
		assert.InEpsilon(t, res.Residual, res.TrueResidual, 1e-9)
		assert.Len(t, x, 81)

		// The residual of conjugate gradients may grow before it shrinks.
		_, res, err = solve(diagonal(t, 1, 1e6), []float64{1e3, 1}, Options{Divergence: 1.5})
		assert.Equal(t, res.Residual, asError[*DivergenceError](t, err).Residual)
		assert.Greater(t, res.Residual, 1.5)

		_, _, err = solve(diagonal(t, 1e-310), []float64{1}, Options{})
		asError[*NotFiniteError](t, err)

		// A cyclic shift moves the residual on by an element in each iteration, and 9 of them are not enough.
		shift := sparse.NewTriplets(10, 10)
		for i := range 10 {
			shift.Add(i, (i+1)%10, 1)
		}
		cyclic, err := shift.CSR()
		require.NoError(t, err)
		first := make([]float64, 10)
		first[0] = 1
		_, res, err = solve(cyclic, first, Options{Method: GMRES, Restart: 9})
		assert.Equal(t, &StagnationError{"gmres", 9, 1, 9}, asError[*StagnationError](t, err))
		assert.Equal(t, 1.0, res.TrueResidual)
		x, res, err = solve(cyclic, first, Options{Method: GMRES, Restart: 50})
		require.NoError(t, err, "10 are")
		assert.Equal(t, 10, res.Iterations)
		assert.InDeltaSlice(t, []float64{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, x, 1e-12)

		// The matrix is singular and b not in its range: the least residual is what is outside, 1/√3.
		x, res, err = solve(diagonal(t, 1, 0, 2), []float64{1, 1, 1}, Options{Method: GMRES})
		asError[*BreakdownError](t, err)
		assert.InEpsilon(t, 1/math.Sqrt(3), res.TrueResidual, 1e-12)
		assert.InDelta(t, 1, x[0], 1e-12)
		assert.InDelta(t, 0.5, x[2], 1e-12)

		_, res, err = solve(generate("poisson2d:40"), random(1600, 1), Options{Precision: Single, Tolerance: 1e-7})
		assert.LessOrEqual(t, res.Residual, 1e-7)
		assert.Equal(t, res.TrueResidual, asError[*AccuracyError](t, err).True)
	}
}

// A method that forgets to end its iterations would go on for ever.
func TestMethodWithoutCheck(t *testing.T) {
	m := Method{Name: "mine", Trace: func(s *System) func() {
		y := s.Temporary("y")
		return func() { s.SpMV(s.X, y) }
	}}
	for _, mode := range Modes() {
		_, _, err := Solve(context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), random(4, 1), Options{Method: m, Mode: mode, MaxIterations: 20})
		assert.EqualError(t, asError[*MethodError](t, err), "method mine: a call of the function that Trace returns ends 0 iterations, not 1: "+
			"end each iteration with System.Check, and set System.Period to how many a call issues", "mode %v", mode)
	}
}

// A solver that is stopped says so at its next look, and has the iterate of that moment.
func TestCancellation(t *testing.T) {
	for _, mode := range Modes() {
		if mode == Loop {
			continue // looks at other times
		}
		ctx, cancel := context.WithCancel(context.Background())
		looks, seen := 0, 0.0
		o := Options{Mode: mode, CheckEvery: 3, Observe: func(iterations int, residual float64) {
			if looks++; looks == 2 {
				assert.Equal(t, 6, iterations)
				seen = residual
				cancel()
			}
		}}
		a := generate("poisson2d:9")
		b := random(a.Rows, 1)
		x, res, err := Solve(ctx, open(t, sim.Options{}), a, b, o)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 6, res.Iterations)
		assert.InEpsilon(t, res.Residual, seen, 1e-6)
		want, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Mode: mode, MaxIterations: 6})
		asError[*NotConvergedError](t, err)
		assert.Equal(t, want, x)
	}
}

// A loop that is stopped ends after some iteration, of which it has the iterate.
func TestCancellationOfALoop(t *testing.T) {
	a := generate("poisson2d:24")
	b := random(a.Rows, 1)
	_, whole, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Mode: Loop})
	require.NoError(t, err)
	assert.NotEmpty(t, whole.Why)
	for _, every := range []int{1, 3, 8} {
		ctx, cancel := context.WithCancel(context.Background())
		o := Options{Mode: Loop, CheckEvery: every, Observe: func(int, float64) { cancel() }}
		x, res, err := Solve(ctx, open(t, sim.Options{}), a, b, o)
		require.ErrorIs(t, err, context.Canceled)
		assert.Less(t, res.Iterations, whole.Iterations)
		want, short, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{MaxIterations: res.Iterations})
		asError[*NotConvergedError](t, err)
		assert.Equal(t, want, x)
		assert.Equal(t, short.History, res.History)
	}
}

// Whichever call of the device fails, Solve returns that error and leaves nothing behind. Every eleventh
// is tried.
func TestEveryCallOfTheDeviceMayFail(t *testing.T) {
	a := generate("poisson2d:3")
	b := random(9, 1)
	for _, mode := range Modes() {
		for n := int(mode); ; n += 11 {
			calls := 0
			fail := func(_ int, method string) device.Code {
				if frees(method) {
					return 0
				}
				if calls++; calls == n+1 {
					return device.OutOfMemory
				}
				return 0
			}
			x, _, err := Solve(context.Background(), wrap.Faults(open(t, sim.Options{}), fail), a, b, Options{Mode: mode})
			if err == nil {
				assert.Greater(t, n, 30, "mode %v", mode)
				break
			}
			assert.Nil(t, x)
			require.Equal(t, device.OutOfMemory, device.CodeOf(err), "mode %v, call %d: %v", mode, n, err)
		}
	}
}

// frees reports whether a call frees something, which it could then not have done.
func frees(method string) bool {
	for _, prefix := range []string{"Free", "Destroy", "Unload", "Close"} {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}
