package kernels

import (
	"testing"
)

func TestBiasAdd(t *testing.T) {
	requireSignature(t, "bias_add")
	requireSummed(t, "bias_add", BiasAddShape)
}
