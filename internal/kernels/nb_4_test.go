package kernels

import "testing"

func TestNB4(t *testing.T) {
	requireSignature(t, "nb_4")
	requireRows(t, "nb_4", NB4Shape)
}
