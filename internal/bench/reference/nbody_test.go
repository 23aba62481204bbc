package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNBodyOfTwo(t *testing.T) {
	bodies := []Body{{X: [3]float64{0, 0, 0}}, {X: [3]float64{0, 2, 0}, V: [3]float64{1, 0, 0}}}
	NBody(bodies, 0.5, 1e-30) // nothing beside a squared distance of 4
	assert.Equal(t, []Body{
		{X: [3]float64{0, 0.0625, 0}, V: [3]float64{0, 0.125, 0}},
		{X: [3]float64{0.5, 1.9375, 0}, V: [3]float64{1, -0.125, 0}},
	}, bodies)
}

// eps bounds the force between bodies in one place, and is added to the squared distance.
func TestNBodyIsSoftened(t *testing.T) {
	bodies := []Body{{}, {}, {X: [3]float64{1, 0, 0}}}
	NBody(bodies, 1, 3)
	assert.InDelta(t, math.Pow(4, -1.5), bodies[0].V[0], 1e-15)
	assert.InDelta(t, -2*math.Pow(4, -1.5), bodies[2].V[0], 1e-15)
}

func TestNBodyKeepsMomentum(t *testing.T) {
	bodies := make([]Body, 20)
	for i := range bodies {
		x := float64(i)
		bodies[i].X = [3]float64{math.Sin(x), math.Cos(2 * x), math.Sin(3 * x)}
	}
	for range 5 {
		NBody(bodies, 0.01, 1e-2)
	}
	for axis := range 3 {
		sum := 0.0
		for _, b := range bodies {
			sum += b.V[axis]
		}
		assert.InDelta(t, 0, sum, 1e-10)
	}
}
