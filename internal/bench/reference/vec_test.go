package reference

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// inputs are the benchmark's deterministic vectors.
func inputs(n int) (x, y []float32) {
	for i := range n {
		x = append(x, 1/float32(i+1))
		y = append(y, 2/float32(i+1))
	}
	return x, y
}

func TestVECByHand(t *testing.T) {
	assert.Equal(t, 0.0, VEC(nil, nil))
	assert.Equal(t, 9.0-16.0, VEC([]float32{3}, []float32{4}))
	assert.Equal(t, 1.0+4.0+9.0-0.25, VEC([]float32{1, -2, 3}, []float32{0, 0.5, 0}))
}

func TestVECClosedFormByHand(t *testing.T) {
	assert.Equal(t, 0.0, VECClosedForm(0))
	assert.Equal(t, -3.0, VECClosedForm(1))
	assert.Equal(t, -3.75, VECClosedForm(2))
}

// TestVECClosedFormIsTheSumOfTheDeterministicInputs compares the closed form with the sum. They may differ by the
// remainder of the tail and by the rounding of the inputs to float32, 6e-8 of each term.
func TestVECClosedFormIsTheSumOfTheDeterministicInputs(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 18, 100, 4096, 1_000_000} {
		assert.InEpsilon(t, VEC(inputs(n)), VECClosedForm(n), 1e-6, fmt.Sprint("n = ", n))
	}
}

func TestVECClosedFormTailIsAsGoodAsItsBound(t *testing.T) {
	sum := 0.0
	for i := 1; i <= 64; i++ {
		sum -= 3 / float64(i*i)
		if i > 16 {
			assert.InDelta(t, sum, VECClosedForm(i), 3/(30*math.Pow(float64(i), 5))+1e-14)
		}
	}
}

func TestVECClosedFormTendsToMinusHalfPiSquared(t *testing.T) {
	assert.InDelta(t, -math.Pi*math.Pi/2, VECClosedForm(1<<40), 1e-11)
}
