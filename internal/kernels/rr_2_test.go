package kernels

import "testing"

func TestRR2(t *testing.T) {
	requireSignature(t, "rr_2")
	requireRows(t, "rr_2", func(blocks, threads, n, width int) (Shape, error) {
		return RR2Shape(blocks, threads, n, width, 1)
	})
	requireRows(t, "rr_2", func(blocks, threads, n, width int) (Shape, error) {
		return RR2Shape(blocks, threads, n, 1, width)
	})
}
