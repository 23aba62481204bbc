package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func TestGemm128x64(t *testing.T) {
	requireSignature(t, "gemm_128x64")
	requireProduct(t, "gemm_128x64", Gemm128x64Shape)
}

func TestGemmPartsAreNotEmpty(t *testing.T) {
	for _, shape := range []func(Product) (Shape, error){Gemm128x64Shape, Gemm64x64Shape, GemmPlainShape} {
		_, err := shape(Product{1, 1, 1, 0})
		assert.ErrorContains(t, err, ": a product of 1 x 1 x 1 elements in parts of 0: each is at least 1")
	}
}

// TestGemmsCoverTheirMatrices checks grids at edges of tiles. The published product has 4 blocks.
func TestGemmsCoverTheirMatrices(t *testing.T) {
	for _, c := range []struct {
		shape       func(Product) (Shape, error)
		p           Product
		grid, block ir.Dim3
	}{
		{Gemm128x64Shape, Product{256, 128, 1152, 1152}, ir.Dim3{X: 2, Y: 2, Z: 1}, ir.Dim3{X: 512, Y: 1, Z: 1}},
		{Gemm128x64Shape, Product{129, 65, 100, 33}, ir.Dim3{X: 2, Y: 2, Z: 4}, ir.Dim3{X: 512, Y: 1, Z: 1}},
		{GemmPlainShape, Product{256, 128, 1152, 1152}, ir.Dim3{X: 2, Y: 2, Z: 1}, ir.Dim3{X: 1024, Y: 1, Z: 1}},
		{Gemm64x64Shape, Product{64, 49, 4608, 512}, ir.Dim3{X: 1, Y: 1, Z: 9}, ir.Dim3{X: 256, Y: 1, Z: 1}},
		{GemmThinShape, Product{1000, 3, 512, 1}, ir.Dim3{X: 32, Y: 3, Z: 1}, ir.Dim3{X: 512, Y: 1, Z: 1}},
		{GemmThinShape, Product{1, 1, 1, 1}, ir.Dim3{X: 1, Y: 1, Z: 1}, ir.Dim3{X: 512, Y: 1, Z: 1}},
	} {
		got, err := c.shape(c.p)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: c.grid, Block: c.block}, got, "%+v", c.p)
	}
}

// requireProduct checks the refusals of a shape function over products.
func requireProduct(t *testing.T, kernel string, shape func(Product) (Shape, error)) {
	t.Helper()
	_, err := shape(Product{65535, 32767, 32700, 32700})
	assert.NoError(t, err)
	for _, p := range []Product{{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {46341, 46341, 1, 1}, {46341, 1, 46341, 46341}, {1, 46341, 46341, 46341}} {
		_, err := shape(p)
		assert.ErrorContains(t, err, kernel+": ", "%+v", p)
	}
}
