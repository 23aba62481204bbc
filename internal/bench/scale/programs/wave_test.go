package programs

import "testing"

func TestWave(t *testing.T) {
	requireResults(t, 20, "wave:37x70", "wave:64x128")
	requireResults(t, 3, "wave:2x65", "wave:5x3", "wave:1x9")
}
