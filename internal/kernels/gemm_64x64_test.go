package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGemm64x64(t *testing.T) {
	requireSignature(t, "gemm_64x64")
	requireProduct(t, "gemm_64x64", Gemm64x64Shape)
	_, err := Gemm64x64Shape(Product{1, 1, 70000, 1})
	assert.EqualError(t, err, "gemm_64x64: a grid of 1 x 1 x 70000 blocks: use at most 65535 along y and z")
}
