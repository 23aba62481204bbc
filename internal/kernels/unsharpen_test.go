package kernels

import "testing"

func TestUnsharpen(t *testing.T) {
	requireSignature(t, "unsharpen")
	requireLinear(t, "unsharpen", UnsharpenShape)
}
