package kernels

import "testing"

func TestCombine(t *testing.T) {
	requireSignature(t, "combine")
	requireLinear(t, "combine", CombineShape)
}
