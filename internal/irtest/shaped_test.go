package irtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestShaped expects valid programs of all shapes, with the sizes that the comment of Shaped states.
func TestShaped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, shape := range Shapes() {
		for range 40 {
			g := Shaped(r, shape)
			require.NoError(t, ir.Verify(g), shape)
			require.GreaterOrEqual(t, g.Len(), 12, shape)
			require.LessOrEqual(t, g.Len(), 60, shape)
		}
	}
}
