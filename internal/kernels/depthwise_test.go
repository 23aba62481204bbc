package kernels

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDepthwise(t *testing.T) {
	requireSignature(t, "depthwise")
	requirePaddedWindow(t, "depthwise", DepthwiseShape)
	_, err := DepthwiseShape(8, 32, PaddedWindow{1, 1, 9, 9, 5, 1, 2})
	assert.EqualError(t, err, "depthwise: a window with side 5 and padding 2: it has side 3 and padding 1")
}
