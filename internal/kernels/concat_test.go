package kernels

import "testing"

func TestConcat(t *testing.T) {
	requireSignature(t, "concat")
	requireLinear(t, "concat", ConcatShape)
}
