package kernels

import "testing"

func TestMaximum(t *testing.T) {
	requireSignature(t, "maximum")
	requireWarps(t, "maximum", MaximumShape)
}
