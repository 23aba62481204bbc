package kernels

import "testing"

func TestReduce(t *testing.T) {
	requireSignature(t, "reduce")
	requireWarps(t, "reduce", ReduceShape)
}
