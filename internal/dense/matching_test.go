package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

func TestMatchingIsMaximum(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 500 {
		n := 1 + r.IntN(80)
		d := NewGraph(n, densetest.RandomEdges(r, n, r.IntN(3*n), n))
		m := MaximumMatching(d.Rows)
		require.Equal(t, densetest.Matching(n, d.Edges()), m.Size)
		pairs := 0
		for u, v := range m.Right {
			if v >= 0 {
				require.Equal(t, int32(u), m.Left[v])
				require.Contains(t, d.Succs(int32(u)), v)
				pairs++
			}
		}
		require.Equal(t, m.Size, pairs)
	}
}
