package programs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRSim(t *testing.T) {
	requireResults(t, 1, "rsim:64x50", "rsim:45x12")
	requireResults(t, 2, "rsim:3x20")
}

// Light must reach triangles within the few steps of a test, and some of it must be late.
func TestDelaysDiffer(t *testing.T) {
	list := delays(45)
	seen := map[int32]int{}
	for i, d := range list {
		assert.GreaterOrEqual(t, d, int32(1))
		assert.LessOrEqual(t, d, int32(1+13), "8 steps along each axis of a cube")
		assert.Equal(t, d, list[i%45*45+i/45], "as far back as forth")
		seen[d]++
	}
	assert.Greater(t, len(seen), 8)
}
