package kernels

import "testing"

func TestMinimum(t *testing.T) {
	requireSignature(t, "minimum")
	requireWarps(t, "minimum", MinimumShape)
}
