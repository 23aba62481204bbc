package kernels

import "testing"

func TestExtend(t *testing.T) {
	requireSignature(t, "extend")
	requireLinear(t, "extend", ExtendShape)
}
