package programs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJacobi(t *testing.T) {
	requireResults(t, 5, "jacobi:70x4", "jacobi:128x10")
	requireResults(t, 2, "jacobi:5x2")
}

// A loop tests the norm.
func TestOnlyJacobiHasAScalar(t *testing.T) {
	for _, k := range Kinds() {
		in, _ := replayed(t, k.Name+":"+k.Tiny, 1)
		assert.Equal(t, k == jacobi, in.Scalar.Len() == 1, k.Name)
	}
}
