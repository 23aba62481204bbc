package solver

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// mode is the slowest of a square plate, and its eigenvalue.
func mode(n int) (u []float64, eigenvalue float64) {
	h := math.Pi / float64(n+1)
	for i := range n {
		for j := range n {
			u = append(u, math.Sin(float64(i+1)*h)*math.Sin(float64(j+1)*h))
		}
	}
	return u, 8 * math.Pow(math.Sin(h/2), 2)
}

// An eigenvector stays one: of heat it shrinks by a factor in each step, of a wave it swings by an
// angle, for an odd number of steps as for an even one.
func TestEvolutionOfAnEigenvector(t *testing.T) {
	const n, step = 6, 0.2
	a := generate("poisson2d:%d", n)
	u, eigenvalue := mode(n)
	angle := math.Acos(1 - step*step*eigenvalue/2)
	for _, how := range []Mode{Eager, Graph} {
		for _, steps := range []int{1, 36, 37} {
			for _, c := range []struct {
				method Method
				factor float64
			}{{Heat, math.Pow(1-step*eigenvalue, float64(steps))}, {Wave, math.Cos(float64(steps) * angle)}} {
				x, res, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), a, scaled(u, 5), Options{Method: c.method, Mode: how, MaxIterations: steps, Step: step})
				require.NoError(t, err)
				assert.InDeltaSlice(t, scaled(u, 5*c.factor), x, 1e-11, "%s, %v, %d steps", c.method.Name, how, steps)
				assert.Equal(t, steps, res.Iterations)
				assert.InDelta(t, math.Abs(c.factor), res.Residual, 1e-11)
			}
		}
	}
}

// On the unit square with a point every h, in steps of h²/8 of the heat equation and h/2 of the wave equation, the
// solution differs from that of the differential equation by a quarter as much for half the h.
func TestEvolutionIsOfSecondOrder(t *testing.T) {
	for _, c := range []struct {
		method   Method
		steps    func(points int) (steps int, time float64)
		solution float64 // of the slowest mode, after that time
	}{
		{Heat, func(n int) (int, float64) { return n * n / 3, 1.0 / 24 }, math.Exp(-2 * math.Pi * math.Pi / 24)},
		{Wave, func(n int) (int, float64) { return n, 0.5 }, math.Cos(math.Sqrt2 * math.Pi * 0.5)},
	} {
		var last float64
		for _, n := range []int{6, 12, 24} { // intervals of a side
			steps, time := c.steps(n)
			u, _ := mode(n - 1)
			a := times(generate("poisson2d:%d", n-1), float64(n*n))
			x, _, err := Solve(context.Background(), open(t, sim.Options{}), a, u, Options{Method: c.method, MaxIterations: steps, Step: time / float64(steps)})
			require.NoError(t, err)
			far := norm(product(u, x))/norm(product(u, u)) - math.Abs(c.solution)
			if last != 0 {
				assert.InDelta(t, 2, math.Log2(last/far), 0.1, "order of %s with %d intervals", c.method.Name, n)
			}
			last = far
		}
	}
}

func TestEvolutionTakesNoStartAndNoPreconditioner(t *testing.T) {
	a := generate("poisson2d:2")
	_, _, err := Solve(context.Background(), open(t, sim.Options{}), a, random(4, 1), Options{Method: Wave, X0: random(4, 2)})
	assert.ErrorContains(t, err, "wave starts from b")
	_, _, err = Solve(context.Background(), open(t, sim.Options{}), a, random(4, 1), Options{Method: Heat, Preconditioner: Jacobi})
	assert.ErrorContains(t, err, "method heat does not support one")
}
