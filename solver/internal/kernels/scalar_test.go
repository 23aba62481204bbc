package kernels_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/tracer"
)

// What state says, as in scalar.cu.
const (
	running = iota
	converged
	exhausted
	diverged
	notFinite
	brokenDown
	stagnant
)

// cg is the scalars of conjugate gradients.
type cg struct {
	*gpu
	rho, alpha, beta, limits, history, state tracer.Buffer
}

// newCG starts after two iterations of at most most, with that rho and limits of 1 and 100.
func newCG(g *gpu, code, most int32, rho float64) *cg {
	g.t.Helper()
	return &cg{
		gpu: g, rho: g.vector([]float64{rho}), alpha: g.vector([]float64{7}), beta: g.vector([]float64{7}),
		limits: g.vector([]float64{1, 100}), history: g.vector([]float64{50, 40, 7, 7}), state: g.ints([]int32{code, 2, most, 0}),
	}
}

func (c *cg) status() []int32 {
	c.t.Helper()
	state := make([]int32, 4)
	assert.NoError(c.t, tracer.Read(state, c.state))
	return state[:3]
}

// norm is the last of the state, the square of one.
func (c *cg) norm() float32 {
	c.t.Helper()
	var state [4]int32
	assert.NoError(c.t, tracer.Read(state[:], c.state))
	return math.Float32frombits(uint32(state[3]))
}

func TestCGAlpha(t *testing.T) {
	for _, c := range []struct {
		about     string
		code      int32
		rho       float64
		partial   []float64
		alpha     float64
		codeAfter int32
	}{
		{"a step", running, 4, []float64{3, 5}, 0.5, running},
		{"more blocks than threads", running, 4, each(100, func(int) float64 { return 0.5 }), 0.08, running},
		{"not definite", running, 4, []float64{3, -5}, 0, brokenDown},
		{"a zero", running, 4, []float64{3, -3}, 0, brokenDown},
		{"an overflow", running, 4, []float64{math.Inf(1)}, 0, notFinite},
		{"a quotient too large", running, math.MaxFloat64, []float64{0.5}, 0, notFinite},
		{"not a number", running, 4, []float64{math.NaN(), 1}, 0, notFinite},
		{"past the end", converged, 4, []float64{3, 5}, 0, converged},
		{"past a breakdown", brokenDown, 4, []float64{math.NaN()}, 0, brokenDown},
	} {
		onEach(t, func(g *gpu) {
			s := newCG(g, c.code, 9, c.rho)
			g.launch("scalar", "cg_alpha", 1, 32, g.vector(c.partial), len(c.partial), s.rho, s.alpha, s.state)
			assert.InDelta(g.t, c.alpha, g.read(s.alpha)[0], 1e-8, c.about)
			assert.Equal(g.t, []int32{c.codeAfter, 2, 9}, s.status(), c.about)
		})
	}
}

func TestCGBeta(t *testing.T) {
	for _, c := range []struct {
		about      string
		code, most int32
		norms      []float64
		beta       float64
		state      []int32
		third      float64 // of the history
	}{
		{"a step", running, 4, []float64{20, 16}, 0.5, []int32{running, 3, 4}, 36},
		{"converged", running, 4, []float64{0.5, 0.5}, 0, []int32{converged, 3, 4}, 1},
		{"to nothing", running, 4, []float64{0}, 0, []int32{converged, 3, 4}, 0},
		{"diverged", running, 4, []float64{60, 41}, 0, []int32{diverged, 3, 4}, 101},
		{"overflow", running, 4, []float64{math.Inf(1)}, 0, []int32{notFinite, 3, 4}, math.Inf(1)},
		{"exhausted", running, 3, []float64{36}, 0, []int32{exhausted, 3, 3}, 36},
		{"converged in the last", running, 3, []float64{1}, 0, []int32{converged, 3, 3}, 1},
		{"past the end", converged, 4, []float64{0.25}, 0, []int32{converged, 2, 4}, 7},
	} {
		onEach(t, func(g *gpu) {
			s := newCG(g, c.code, c.most, 4)
			g.launch("scalar", "cg_beta", 1, 64, g.vector(c.norms), g.vector([]float64{1, 1}), len(c.norms), s.rho, s.beta, s.limits, s.history, s.state)
			assert.Equal(g.t, c.beta, g.read(s.beta)[0], c.about)
			assert.Equal(g.t, c.state, s.status(), c.about)
			assert.Equal(g.t, []float64{50, 40, c.third, 7}, g.read(s.history), c.about)
			if c.state[1] == 3 {
				assert.Equal(g.t, float32(c.third), s.norm(), c.about)
			}
			if c.state[0] == running {
				assert.Equal(g.t, 2.0, g.read(s.rho)[0], c.about)
			}
		})
	}
}

func TestBiCGSTABScalars(t *testing.T) {
	onEach(t, func(g *gpu) {
		scalar := func(v float64) tracer.Buffer { return g.vector([]float64{v}) }
		parts := func(v float64) tracer.Buffer { return g.vector([]float64{v - 1, 1}) }

		for _, c := range []struct {
			rho, product, alpha float64
			code                int32
		}{{6, -2, -3, running}, {6, 0, 0, brokenDown}, {6, math.NaN(), 0, notFinite}} {
			s := newCG(g, running, 9, c.rho)
			g.launch("scalar", "bicgstab_alpha", 1, 32, parts(c.product), 2, s.rho, s.alpha, s.state)
			assert.Equal(g.t, c.alpha, g.read(s.alpha)[0])
			assert.Equal(g.t, []int32{c.code, 2, 9}, s.status())
		}
		for _, c := range []struct {
			norm, product, omega float64
			code, after          int32
		}{
			{4, 2, 0.5, running, running}, {0, 0, 0, running, running}, {4, 2, 0, converged, converged},
			{math.Inf(1), 2, 0, running, notFinite},
		} {
			s := newCG(g, c.code, 9, 1)
			omega := scalar(7)
			g.launch("scalar", "bicgstab_omega", 1, 32, parts(c.norm), parts(c.product), 2, omega, s.state)
			assert.Equal(g.t, c.omega, g.read(omega)[0])
			assert.Equal(g.t, []int32{c.after, 2, 9}, s.status())
		}
		for _, c := range []struct {
			norm, product, omega, beta float64
			state                      []int32
		}{
			{16, 2, 0.5, 3, []int32{running, 3, 9}}, // 2/4 * 3/0.5
			{0.5, 2, 0.5, 0, []int32{converged, 3, 9}},
			{16, 0, 0.5, 0, []int32{brokenDown, 3, 9}},
			{16, 2, 0, 0, []int32{brokenDown, 3, 9}},
		} {
			s := newCG(g, running, 9, 4)
			g.launch("scalar", "bicgstab_beta", 1, 32, parts(c.norm), parts(c.product), 2, s.rho, scalar(3), scalar(c.omega), s.beta, s.limits, s.history, s.state)
			assert.Equal(g.t, c.beta, g.read(s.beta)[0])
			assert.Equal(g.t, c.state, s.status())
			assert.Equal(g.t, c.norm, g.read(s.history)[2])
		}
	})
}

// The coefficients that the three-term recurrence of Chebyshev's polynomials gives: with T the
// polynomial of degree k at theta/delta, rho[k] = T[k]/T[k+1], a = rho[k] rho[k-1] and b = 2 rho[k]/delta.
func TestChebyshev(t *testing.T) {
	const theta, delta = 5.0, 3.0
	onEach(t, func(g *gpu) {
		s := newCG(g, running, 9, 1)
		tau, a, b := g.vector([]float64{1 / theta}), g.output(1), g.output(1)
		middle, half, on := g.vector([]float64{theta}), g.vector([]float64{delta}), g.output(1)
		T := func(k int) float64 { return math.Cosh(float64(k) * math.Acosh(theta/delta)) }
		for k := 1; k < 3; k++ {
			g.launch("scalar", "chebyshev", 1, 32, g.vector([]float64{9}), 1, middle, half, tau, a, b, on, s.limits, s.history, s.state)
			rho := T(k) / T(k+1)
			assert.InEpsilon(g.t, rho*T(k-1)/T(k), g.read(a)[0], 1e-6)
			assert.InEpsilon(g.t, 2*rho/delta, g.read(b)[0], 1e-6)
			assert.Equal(g.t, []float64{1}, g.read(on))
		}
	})
}

func TestScalarsOnTheirOwn(t *testing.T) {
	onEach(t, func(g *gpu) {
		sum := g.output(1)
		g.launch("scalar", "add", 1, 64, g.vector(each(100, func(i int) float64 { return float64(i) })), 100, sum)
		assert.Equal(g.t, []float64{4950}, g.read(sum))

		for _, c := range []struct {
			x, y, q float64
			code    int32
		}{{6, 4, 1.5, running}, {6, 0, 0, brokenDown}} {
			s := newCG(g, running, 9, 1)
			q := g.output(1)
			g.launch("scalar", "divide", 1, 32, g.vector([]float64{c.x}), g.vector([]float64{c.y}), q, s.state)
			assert.Equal(g.t, []float64{c.q}, g.read(q))
			assert.Equal(g.t, []int32{c.code, 2, 9}, s.status())
		}
		for _, c := range []struct {
			norm, on float64
			state    []int32
		}{{36, 1, []int32{running, 3, 9}}, {1, 0, []int32{converged, 3, 9}}} {
			s := newCG(g, running, 9, 1)
			on := g.output(1)
			g.launch("scalar", "check", 1, 32, g.vector([]float64{c.norm - 1, 1}), 2, on, s.limits, s.history, s.state)
			assert.Equal(g.t, []float64{c.on}, g.read(on))
			assert.Equal(g.t, c.state, s.status())
		}
	})
}

func TestAllEnded(t *testing.T) {
	onEach(t, func(g *gpu) {
		for _, systems := range []int{1, 3, 32, 33, 70} {
			states := make([]int32, 4*systems)
			for i := range systems {
				copy(states[4*i:], []int32{converged, running, running, running})
			}
			ended := func() int32 {
				flag := g.ints([]int32{7})
				g.launch("scalar", "all_ended", 1, 32, g.ints(states), systems, flag)
				var got [1]int32
				require.NoError(g.t, tracer.Read(got[:], flag))
				return got[0]
			}
			assert.EqualValues(g.t, 1, ended(), "%d systems", systems)
			for _, i := range []int{0, systems / 2, systems - 1} {
				states[4*i] = running
				assert.Zero(g.t, ended(), "system %d of %d is running", i, systems)
				states[4*i] = stagnant
			}
			assert.EqualValues(g.t, 1, ended(), "%d systems", systems)
		}
	})
}
