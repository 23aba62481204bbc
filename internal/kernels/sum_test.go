package kernels

import "testing"

func TestSum(t *testing.T) {
	requireSignature(t, "sum")
	requireWarps(t, "sum", SumShape)
}
