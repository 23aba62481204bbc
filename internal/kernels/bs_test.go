package kernels

import "testing"

func TestBS(t *testing.T) {
	requireSignature(t, "bs")
	requireLinear(t, "bs", BSShape)
}
