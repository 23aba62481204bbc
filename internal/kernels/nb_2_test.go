package kernels

import "testing"

func TestNB2(t *testing.T) {
	requireSignature(t, "nb_2")
	requireRows(t, "nb_2", NB2Shape)
}
