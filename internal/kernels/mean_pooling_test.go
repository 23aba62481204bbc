package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func TestMeanPooling(t *testing.T) {
	requireSignature(t, "mean_pooling")
	requireWindow(t, "mean_pooling", func(blocks, side, rows, cols int) (Shape, error) {
		return MeanPoolingShape(blocks, side, Window{rows, cols, 1, 5, 1})
	})
}

func TestMeanPoolingCoversWhatItMakes(t *testing.T) {
	for _, c := range []struct {
		w    Window
		want ir.Dim3
	}{
		{Window{500, 250, 8, 5, 5}, ir.Dim3{X: 25, Y: 13, Z: 2}},
		{Window{8000, 8000, 9, 5, 5}, ir.Dim3{X: 264, Y: 264, Z: 3}},
		{Window{4, 4, 1, 5, 5}, ir.Dim3{X: 1, Y: 1, Z: 1}},
	} {
		got, err := MeanPoolingShape(264, 4, c.w)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: c.want, Block: ir.Dim3{X: 4, Y: 4, Z: 4}}, got, "%+v", c.w)
	}
	_, err := MeanPoolingShape(264, 11, Window{500, 500, 8, 5, 5})
	assert.EqualError(t, err, "mean_pooling: blocks of 11 x 11 x 11 threads: use a side of 1 to 10")
}
