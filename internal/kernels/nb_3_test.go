package kernels

import "testing"

func TestNB3(t *testing.T) {
	requireSignature(t, "nb_3")
	requireRows(t, "nb_3", NB3Shape)
}
