package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func conv2DOne(blocks, side, rows, cols int) (Shape, error) {
	return Conv2DShape(blocks, side, Window{rows, cols, 1, 3, 1}, 1)
}

func TestConv2D(t *testing.T) {
	requireSignature(t, "conv2d")
	requireWindow(t, "conv2d", conv2DOne)
}

func TestConv2DCoversWhatItMakes(t *testing.T) {
	for _, c := range []struct {
		w       Window
		filters int
		want    Shape
	}{
		{Window{1000, 500, 1, 3, 2}, 8, Shape{ir.Dim3{X: 63, Y: 32, Z: 1}, ir.Dim3{X: 8, Y: 8, Z: 1}, 288}},
		{Window{100, 101, 8, 3, 2}, 16, Shape{ir.Dim3{X: 7, Y: 7, Z: 1}, ir.Dim3{X: 8, Y: 8, Z: 1}, 4608}},
		{Window{16000, 16000, 1, 3, 2}, 8, Shape{ir.Dim3{X: 528, Y: 528, Z: 1}, ir.Dim3{X: 8, Y: 8, Z: 1}, 288}},
		{Window{1, 1, 1, 3, 2}, 1, Shape{ir.Dim3{X: 1, Y: 1, Z: 1}, ir.Dim3{X: 8, Y: 8, Z: 1}, 36}},
	} {
		got, err := Conv2DShape(528, 8, c.w, c.filters)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%+v", c.w)
	}
}

func TestConv2DRefusesWeightsThatDoNotFit(t *testing.T) {
	_, err := Conv2DShape(16, 8, Window{64, 64, 16, 3, 2}, 86)
	assert.EqualError(t, err, "conv2d: 86 filters of 3 x 3 x 16 weights: they have to fit in 49152 bytes of shared memory")
	_, err = Conv2DShape(16, 8, Window{64, 64, 16, 3, 2}, 85)
	assert.NoError(t, err)
}
