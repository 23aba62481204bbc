package kernels

import (
	"testing"
)

func TestGemmThin(t *testing.T) {
	requireSignature(t, "gemm_thin")
	requireProduct(t, "gemm_thin", GemmThinShape)
}
