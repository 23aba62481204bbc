package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRR1(t *testing.T) {
	requireSignature(t, "rr_1")
	requireLinear(t, "rr_1", func(blocks, threads, n int) (Shape, error) { return RR1Shape(blocks, threads, 1, n) })
}

func TestRR1CountsItsMatrix(t *testing.T) {
	shape, err := RR1Shape(64, 256, 10_737_418, 200)
	require.NoError(t, err)
	assert.EqualValues(t, 64, shape.Grid.X)
	_, err = RR1Shape(64, 256, 10_737_419, 200)
	assert.EqualError(t, err, "rr_1: 10737419 x 200 elements exceed the kernel's 32-bit index: split the data")
}
