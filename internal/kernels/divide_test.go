package kernels

import "testing"

func TestDivide(t *testing.T) {
	requireSignature(t, "divide")
	requireLinear(t, "divide", DivideShape)
}
