package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGaussianBlur(t *testing.T) {
	requireSignature(t, "gaussian_blur")
	requirePlane(t, "gaussian_blur", func(blocks, side, rows, cols int) (Shape, error) {
		return GaussianBlurShape(blocks, side, rows, cols, 3)
	})
}

func TestGaussianBlurKeepsItsFilterInSharedMemory(t *testing.T) {
	for diameter, bytes := range map[int]uint32{1: 4, 3: 36, 5: 100, 109: 47524} {
		shape, err := GaussianBlurShape(16, 8, 64, 64, diameter)
		require.NoError(t, err)
		assert.Equal(t, bytes, shape.Shared)
	}
}

func TestGaussianBlurRefusesFiltersWithoutACentre(t *testing.T) {
	for _, diameter := range []int{-3, 0, 2, 4} {
		_, err := GaussianBlurShape(16, 8, 64, 64, diameter)
		assert.ErrorContains(t, err, "a filter with a centre has an odd one")
	}
	_, err := GaussianBlurShape(16, 8, 64, 64, 111)
	assert.EqualError(t, err, "gaussian_blur: diameter 111: the filter has to fit in 49152 bytes of shared memory, use at most 109")
}
