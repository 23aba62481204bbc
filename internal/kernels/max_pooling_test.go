package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMaxPooling(t *testing.T) {
	requireSignature(t, "max_pooling")
	requirePaddedWindow(t, "max_pooling", MaxPoolingShape)
	_, err := MaxPoolingShape(8, 32, PaddedWindow{1, 1, 9, 9, 3, 1, 3})
	assert.EqualError(t, err, "max_pooling: a window with side 3 and padding 3: the padding is less than the side")
}
