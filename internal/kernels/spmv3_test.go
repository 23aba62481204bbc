package kernels

import "testing"

func TestSpmv3(t *testing.T) {
	requireSignature(t, "spmv3")
	requireWarps(t, "spmv3", Spmv3Shape)
}
