package kernels

import "testing"

func TestGemmPlain(t *testing.T) {
	requireSignature(t, "gemm_plain")
	requireProduct(t, "gemm_plain", GemmPlainShape)
}
