package kernels

import "testing"

func TestNB1(t *testing.T) {
	requireSignature(t, "nb_1")
	requireRows(t, "nb_1", func(blocks, threads, n, width int) (Shape, error) {
		return NB1Shape(blocks, threads, n, width, 1)
	})
	requireRows(t, "nb_1", func(blocks, threads, n, width int) (Shape, error) {
		return NB1Shape(blocks, threads, n, 1, width)
	})
}
