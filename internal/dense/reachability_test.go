package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// More than 512 targets take more than one sweep, and more than one block of a row.
func TestReachabilityAcrossSweeps(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	const n = 1300
	edges := densetest.RandomEdges(r, n, n, 200)
	reach := densetest.Closure(n, edges)
	var sources, targets []int32
	for v := range int32(n) {
		if r.IntN(2) == 0 && v > 100 { // so that some targets come before all sources
			sources = append(sources, v)
		}
		if r.IntN(8) > 0 {
			targets = append(targets, v)
		}
	}
	require.Greater(t, len(targets), 2*BlockBits)
	for i, row := range NewGraph(n, edges).Reachability(sources, targets) {
		for j, v := range targets {
			require.Equal(t, reach[sources[i]][v], row.Has(j), "%d to %d", sources[i], v)
		}
	}
}
