package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIm2col(t *testing.T) {
	requireSignature(t, "im2col")
	requirePaddedWindow(t, "im2col", Im2colShape)
	_, err := Im2colShape(8, 32, PaddedWindow{64, 1, 2000, 2000, 3, 1, 1})
	assert.EqualError(t, err, "im2col: 576 x 4000000 elements exceed the kernel's 32-bit index: split the data")
}
