package kernels

import "testing"

func TestRR3(t *testing.T) {
	requireSignature(t, "rr_3")
	requireRows(t, "rr_3", RR3Shape)
}
