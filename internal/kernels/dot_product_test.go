package kernels

import "testing"

func TestDotProduct(t *testing.T) {
	requireSignature(t, "dot_product")
	requireWarps(t, "dot_product", DotProductShape)
}
