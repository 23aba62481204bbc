package kernels

import "testing"

func TestArgmax(t *testing.T) {
	requireSignature(t, "argmax")
	requireRows(t, "argmax", ArgmaxShape)
}
