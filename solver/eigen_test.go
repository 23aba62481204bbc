package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// dense is a as gonum has it.
func dense(a *sparse.CSR) *mat.Dense {
	full := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, c := range cols {
			full.Set(i, int(c), vals[k])
		}
	}
	return full
}

// upright turns a vector whose sign does not matter so that its first element is positive.
func upright(x []float64) []float64 { return scaled(x, math.Copysign(1, x[0])) }

func TestPowerFindsTheGreatestEigenvalue(t *testing.T) {
	a := generate("spd:30,4,5")
	var eigen mat.EigenSym
	require.True(t, eigen.Factorize(mat.NewSymDense(30, dense(a).RawMatrix().Data), true))
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	x, res, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), a, random(30, 1), Options{Method: Power})
	require.NoError(t, err)
	assert.InEpsilon(t, eigen.Values(nil)[29], res.Eigenvalue, 1e-10)
	assert.InDeltaSlice(t, upright(mat.Col(nil, 29, &vectors)), upright(x), 1e-6)
	assert.LessOrEqual(t, res.TrueResidual, 1e-8)

	_, again, err := Solve(context.Background(), open(t, sim.Options{}), a, random(30, 1), Options{Method: Power, X0: x})
	require.NoError(t, err)
	assert.Zero(t, again.Iterations, "from the eigenvector")

	_, _, err = Solve(context.Background(), open(t, sim.Options{}), diagonal(t, 1, 0), []float64{0, 1}, Options{Method: Power})
	asError[*BreakdownError](t, err)
}

// web is a random graph, in which some pages have no links.
func web(t *testing.T, n int, seed uint64) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	links := sparse.NewTriplets(n, n)
	for i := range n {
		if i%7 == 3 {
			continue
		}
		for range 1 + rng.IntN(5) {
			links.Add(i, rng.IntN(n), 1)
		}
	}
	a, err := links.CSR()
	require.NoError(t, err)
	return a
}

// Hubs and authorities are the greatest singular vectors.
func TestHITSFindsSingularVectors(t *testing.T) {
	a := web(t, 40, 1)
	var svd mat.SVD
	require.True(t, svd.Factorize(dense(a), mat.SVDThin))
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	hubs, res, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), a, positive(40), Options{Method: HITS})
	require.NoError(t, err)
	assert.InEpsilon(t, math.Pow(svd.Values(nil)[0], 2), res.Eigenvalue, 1e-10)
	assert.InDeltaSlice(t, upright(mat.Col(nil, 0, &left)), upright(hubs), 1e-6)
	assert.InDeltaSlice(t, upright(mat.Col(nil, 0, &right)), upright(res.Authorities), 1e-6)
}

// The ranks solve (I - d(P + u bᵀ)ᵀ) x = (1 - d) b, where u marks pages without links.
func TestPageRankSolvesItsEquation(t *testing.T) {
	const n, d = 40, 0.7
	a, b := web(t, n, 2), positive(n)
	b = scaled(b, 1/sum(b))
	google := mat.NewDense(n, n, nil)
	for i := range n {
		cols, vals := a.Row(i)
		for j := range n {
			if len(cols) == 0 {
				google.Set(j, i, -d*b[j])
			}
		}
		for k, c := range cols {
			google.Set(int(c), i, -d*vals[k]/sum(vals))
		}
	}
	for i := range n {
		google.Set(i, i, google.At(i, i)+1)
	}
	var want mat.VecDense
	require.NoError(t, want.SolveVec(google, mat.NewVecDense(n, scaled(b, 1-d))))
	x, res, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), a, scaled(b, 3), Options{Method: PageRank, Damping: d})
	require.NoError(t, err)
	assert.InDeltaSlice(t, want.RawVector().Data, x, 1e-8)
	assert.InDelta(t, 1, sum(x), 1e-12)
	assert.LessOrEqual(t, res.TrueResidual, 1e-8)
}

// Four pages whose ranks are in many a tutorial: 1.49, 0.783, 1.577 and 0.15, of 4 in all.
func TestPageRankOfFourPages(t *testing.T) {
	links := sparse.NewTriplets(4, 4)
	for _, l := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 2}} {
		links.Add(l[0], l[1], 1)
	}
	a, err := links.CSR()
	require.NoError(t, err)
	x, _, err := Solve(context.Background(), open(t, sim.Options{}), a, []float64{1, 1, 1, 1}, Options{Method: PageRank})
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{1.49, 0.783, 1.577, 0.15}, scaled(x, 4), 1e-3)
}

func TestWeightsAreNotNegative(t *testing.T) {
	a := web(t, 5, 3)
	for message, b := range map[string][]float64{"b[2] is -1": {1, 1, -1, 1, 1}, "b is zero": make([]float64, 5)} {
		_, _, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Method: PageRank})
		asError[*DistributionError](t, err)
		assert.ErrorContains(t, err, message)
	}
	_, _, err := Solve(context.Background(), open(t, sim.Options{}), a, positive(5), Options{Method: PageRank, X0: []float64{1, 0, 0, -3, 0}})
	assert.ErrorContains(t, err, "x0[3] is -3")
	a.Val[0] = -2
	_, _, err = Solve(context.Background(), open(t, sim.Options{}), a, positive(5), Options{Method: PageRank})
	assert.ErrorContains(t, err, "of the matrix (counted from 0) is -2: the weight of a link is not negative")
}

// TestScaleOfGraphsAndEquations solves what is not Ax = b for matrices and vectors times powers of two, with which squares, and
// sums of elements, overflow or vanish: nothing changes but exponents.
func TestScaleOfGraphsAndEquations(t *testing.T) {
	a := times(generate("poisson3d:3"), 1.9)
	for i := range a.Val {
		a.Val[i] = math.Abs(a.Val[i]) // weights
	}
	b := random(a.Rows, 1)
	for i := range b {
		b[i] = math.Abs(b[i])
	}
	for _, m := range []Method{Power, HITS, PageRank, Heat, Wave} {
		o := Options{Method: m, MaxIterations: 2000}
		if m.Name == "heat" || m.Name == "wave" {
			o.MaxIterations = 9
		}
		want, known, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
		require.NoError(t, err)
		for _, e := range [][2]int{{1020, 1020}, {-1000, -1000}, {-1000, 1020}, {700, -900}} {
			x, got, err := Solve(context.Background(), open(t, sim.Options{}), times(a, math.Ldexp(1, e[0])), scaled(b, math.Ldexp(1, e[1])), o)
			about := fmt.Sprintf("%s, the matrix times 2^%d, b times 2^%d", m.Name, e[0], e[1])
			require.NoError(t, err, about)
			assert.Equal(t, known.Iterations, got.Iterations, about)
			switch m.Name {
			case "heat", "wave":
				assert.Equal(t, shifted(want, e[1]), x, about)
			case "hits":
				assert.Equal(t, math.Ldexp(known.Eigenvalue, 2*e[0]), got.Eigenvalue, about)
				assert.Equal(t, known.Authorities, got.Authorities, about)
				assert.Equal(t, want, x, about)
			default:
				assert.Equal(t, math.Ldexp(known.Eigenvalue, e[0]), got.Eigenvalue, about)
				assert.Equal(t, want, x, about)
			}
		}
	}
}
