package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func TestSoftmaxColumns(t *testing.T) {
	requireSignature(t, "softmax_columns")
	for images, want := range map[int]uint32{1: 1, 20: 20, 1000: 448} {
		got, err := SoftmaxColumnsShape(448, 1000, images)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: ir.Dim3{X: want, Y: 1, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}}, got)
	}
	_, err := SoftmaxColumnsShape(0, 1000, 1)
	assert.EqualError(t, err, "softmax_columns: 0 blocks: use 1 to 2147483647")
	_, err = SoftmaxColumnsShape(8, 46341, 46341)
	assert.ErrorContains(t, err, "softmax_columns: 46341 x 46341 elements")
}
