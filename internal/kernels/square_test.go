package kernels

import "testing"

func TestSquare(t *testing.T) {
	requireSignature(t, "square")
	requireLinear(t, "square", SquareShape)
}
