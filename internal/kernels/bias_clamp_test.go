package kernels

import (
	"testing"
)

func TestBiasClamp(t *testing.T) {
	requireSignature(t, "bias_clamp")
	requireSummed(t, "bias_clamp", BiasClampShape)
}
