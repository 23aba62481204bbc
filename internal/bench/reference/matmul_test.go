package reference

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMultiplyByHand(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6}  // 2 x 3
	b := []float64{1, 10, 0, 1, 2, 0} // 3 x 2
	assert.Equal(t, []float64{7, 12, 16, 45}, Multiply(a, b, 2, 2, 3))
}
