package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// Nothing is called needed that a path of two edges implies, and a third of the edges of random graphs are
// found to be needed.
func TestPathLengthsKeepOnlyWhatIsNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	needed, all := 0, 0
	for round := range 200 {
		n := 2 + r.IntN(80)
		d := NewGraph(n, densetest.RandomEdges(r, n, r.IntN(4*n), n))
		reach := densetest.Closure(n, d.Edges())
		lengths := newPathLengths(d)
		for _, e := range d.Edges() {
			between := false
			for k := range n {
				between = between || reach[e.From][k] && reach[k][e.To]
			}
			require.True(t, lengths.apart(e.From, e.To) || !between, "round %d: %v", round, e)
			all++
			if !lengths.apart(e.From, e.To) {
				needed++
			}
		}
	}
	assert.Greater(t, needed, all/3)
}

// Layers whose edges lead to the next one are decided without any walk, however long the edges are.
func TestLayersAreDecidedByLengths(t *testing.T) {
	const width, layers = 5000, 4
	r := rand.New(rand.NewPCG(42, 42))
	var edges []Edge
	for v := width; v < width*layers; v++ {
		for range 3 {
			edges = append(edges, Edge{int32(v/width*width - 1 - r.IntN(width)), int32(v)})
		}
	}
	d := NewGraph(width*layers, edges)
	reduced := d.reduceWithin(workBound{}, workBound{})
	assert.Zero(t, reduced.Undecided)
	assert.NotContains(t, reduced.Redundant, true)
}
