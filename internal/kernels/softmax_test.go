package kernels

import "testing"

func TestSoftmax(t *testing.T) {
	requireSignature(t, "softmax")
	requireRows(t, "softmax", SoftmaxShape)
}
