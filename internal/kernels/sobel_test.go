package kernels

import "testing"

func TestSobel(t *testing.T) {
	requireSignature(t, "sobel")
	requirePlane(t, "sobel", SobelShape)
}
