package kernels_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

func TestColumns(t *testing.T) {
	onEach(t, func(g *gpu) {
		for _, s := range shapes {
			const columns = 3
			n, blocks, threads := s.n, uint32(s.blocks), uint32(s.threads)
			v, w, c := g.small(columns*n), g.small(n), g.small(columns)
			basis := g.vector(v)
			column := func(k int) []float64 { return v[k*n : (k+1)*n] }
			mixed := func(sign float64) []float64 {
				return each(n, func(i int) float64 { return w[i] + sign*dot(c, each(columns, func(k int) float64 { return v[k*n+i] })) })
			}

			partial := g.output(columns * s.blocks)
			shape := tracer.Linear(blocks, threads)
			shape.Grid.Y = columns
			g.launchShape("gmres", "project", shape, basis, g.vector(w), partial, n)
			sums, h := g.output(columns), g.vector([]float64{100, 200, 300})
			for _, more := range []int{0, 1} {
				g.launch("gmres", "coefficients", columns, 32, partial, s.blocks, sums, h, more)
				for k := range columns {
					want := dot(column(k), w)
					assert.Equal(g.t, want, g.read(sums)[k], "column %d of %v", k, s)
					assert.Equal(g.t, want*float64(1+more), g.read(h)[k], "column %d of %v", k, s)
				}
			}
			out, norms := g.vector(w), g.output(s.blocks)
			g.launch("gmres", "orthogonalize", blocks, threads, basis, g.vector(c), out, norms, columns, n)
			assert.Equal(g.t, mixed(-1), g.read(out))
			assert.Equal(g.t, dot(mixed(-1), mixed(-1)), sum(g.read(norms)))
			out = g.vector(w)
			g.launch("gmres", "combine", blocks, threads, basis, g.vector(c), out, columns, n)
			assert.Equal(g.t, mixed(1), g.read(out))
			out = g.output(n)
			g.launch("gmres", "scale", blocks, threads, g.vector([]float64{3}), g.vector(w), out, n)
			assert.Equal(g.t, each(n, func(i int) float64 { return 3 * w[i] }), g.read(out))
		}
	})
}

// hessenberg is the scalars of a cycle of GMRES.
type hessenberg struct {
	*gpu
	m                              int
	h, cosine, sine, g, inverse, y tracer.Buffer
	used, state, limits, history   tracer.Buffer
}

// newHessenberg starts from a residual of norm 3, and ends when there is none.
func newHessenberg(g *gpu, m int) *hessenberg {
	g.t.Helper()
	s := &hessenberg{
		gpu: g, m: m,
		h: g.vector(make([]float64, m*(m+1))), cosine: g.output(m), sine: g.output(m), g: g.vector(make([]float64, m+1)), inverse: g.output(1),
		y: g.output(m), used: g.Alloc("used", ir.I32, 1, ir.Output), state: g.ints([]int32{running, 0, 100, 0}),
		limits: g.vector([]float64{0, 1e6}), history: g.vector(make([]float64, 100)),
	}
	g.launch("gmres", "begin", 1, 32, g.vector([]float64{4, 5}), 2, g.vector([]float64{math.Inf(1)}), s.g, s.inverse, s.used, s.state)
	assert.InDelta(g.t, 1.0/3, g.read(s.inverse)[0], 1e-7)
	return s
}

// rotate adds column j, whose last element is given squared and in two parts.
func (s *hessenberg) rotate(j int, column []float64, below float64) {
	s.t.Helper()
	at := s.h.Slice(int64(j*(s.m+1)), int64((j+1)*(s.m+1)))
	if s.elem == ir.F64 {
		require.NoError(s.t, tracer.Write(at.Slice(0, int64(j+1)), column))
	} else {
		single := make([]float32, len(column))
		for i, v := range column {
			single[i] = float32(v)
		}
		require.NoError(s.t, tracer.Write(at.Slice(0, int64(j+1)), single))
	}
	half := below * below / 2
	s.launch("gmres", "rotate", 1, 32, s.vector([]float64{half, half}), 2, j, at, s.cosine, s.sine, s.g, s.inverse, s.used, s.limits, s.history, s.state)
}

func (s *hessenberg) solve() []float64 {
	s.t.Helper()
	s.launch("gmres", "solve", 1, 32, s.h, s.g, s.used, s.y, s.m+1, s.m)
	return s.read(s.y)
}

// After each column the last of g is the least residual, and the solution that of the least
// squares problem, which gonum solves by Householder's reflections.
func TestRotationsSolveTheLeastSquaresProblem(t *testing.T) {
	onEach(t, func(g *gpu) {
		const m = 40 // more than a warp
		tolerance := map[ir.Type]float64{ir.F64: 1e-10, ir.F32: 1e-3}[g.elem]
		s := newHessenberg(g, m)
		full := mat.NewDense(m+1, m, nil)
		for j := range m {
			column := each(j+1, func(int) float64 { return g.rng.NormFloat64() / 8 })
			column[j] += 2
			below := 0.5 + g.rng.Float64()
			for i, v := range column {
				full.Set(i, j, v)
			}
			full.Set(j+1, j, below)
			s.rotate(j, column, below)
			assert.InEpsilon(g.t, 1/below, g.read(s.inverse)[0], 1e-6)

			part := full.Slice(0, j+2, 0, j+1)
			rhs := mat.NewVecDense(j+2, nil)
			rhs.SetVec(0, 3)
			var want, rest mat.VecDense
			require.NoError(g.t, want.SolveVec(part, rhs))
			rest.MulVec(part, &want)
			rest.SubVec(rhs, &rest)
			assert.InDelta(g.t, mat.Norm(&rest, 2), math.Abs(g.read(s.g)[j+1]), tolerance)
			assert.InDelta(g.t, math.Pow(mat.Norm(&rest, 2), 2), g.read(s.history)[j], 9*tolerance)
			if j%13 == 0 || j == m-1 {
				got := s.solve()
				assert.InDeltaSlice(g.t, want.RawVector().Data, got[:j+1], 9*tolerance)
				assert.Equal(g.t, make([]float64, m-j-1), got[j+1:], "columns that are not there yet")
			}
		}
	})
}

// From the last iteration on columns are not used.
func TestRotationsEnd(t *testing.T) {
	onEach(t, func(g *gpu) {
		s := newHessenberg(g, 3)
		s.rotate(0, []float64{2}, 0) // the space is invariant: the residual is 0
		assert.Equal(g.t, []float64{0}, g.read(s.inverse))
		s.rotate(1, []float64{5, 5}, 5)
		assert.Equal(g.t, []float64{0}, g.read(s.inverse))
		assert.InDeltaSlice(g.t, []float64{1.5, 0, 0}, s.solve(), 1e-6)
		state := make([]int32, 4)
		require.NoError(g.t, tracer.Read(state, s.state))
		assert.Equal(g.t, []int32{converged, 1, 100, 0}, state)

		s = newHessenberg(g, 3)
		s.rotate(0, []float64{0}, 0)
		require.NoError(g.t, tracer.Read(state, s.state))
		assert.Equal(g.t, []int32{brokenDown, 0, 100, 0}, state)
		assert.Equal(g.t, []float64{0, 0, 0}, s.solve())

		// The second column is the first again but for rounding: the columns have no third dimension.
		s = newHessenberg(g, 3)
		s.rotate(0, []float64{3}, 4)
		s.rotate(1, []float64{3, 4}, 1e-20)
		require.NoError(g.t, tracer.Read(state, s.state))
		assert.Equal(g.t, []int32{brokenDown, 1, 100}, state[:3])
		assert.InDeltaSlice(g.t, []float64{9.0 / 25, 0, 0}, s.solve(), 1e-6, "the least residual of one column")
	})
}

// A cycle that does not begin with less than the one before is the last.
func TestCyclesThatGainNothing(t *testing.T) {
	onEach(t, func(g *gpu) {
		for _, c := range []struct{ before, want float64 }{{3.1, running}, {3, stagnant}, {2.9, stagnant}} {
			state, before := g.ints([]int32{running, 5, 100, 0}), g.vector([]float64{c.before})
			scalar := g.output(1)
			g.launch("gmres", "begin", 1, 32, g.vector([]float64{4, 5}), 2, before, scalar, g.output(1), g.Alloc("used", ir.I32, 1, ir.Output), state)
			got := make([]int32, 1)
			require.NoError(g.t, tracer.Read(got, state.Slice(0, 1)))
			assert.Equal(g.t, []int32{int32(c.want)}, got, "after %g", c.before)
			assert.Equal(g.t, g.read(scalar), g.read(before))
		}
	})
}
