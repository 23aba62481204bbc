package programs

import "testing"

func TestMatmul(t *testing.T) {
	requireResults(t, 3, "matmul:130x70x67", "matmul:64")
	requireResults(t, 2, "matmul:1x2x3")
}
