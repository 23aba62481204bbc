package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nothing is called needed that a path of two edges implies, and a third of the edges of random graphs are found to be needed.
func TestPathLengthsKeepOnlyWhatIsNeeded(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	needed, all := 0, 0
	for round := range 200 {
		n := 2 + r.IntN(80)
		d := newDAG(n, randomEdges(r, n, r.IntN(4*n), n))
		reach := closure(n, d.edges())
		lengths := newPathLengths(d)
		for _, e := range d.edges() {
			between := false
			for k := range n {
				between = between || reach[e.from][k] && reach[k][e.to]
			}
			require.True(t, lengths.apart(e.from, e.to) || !between, "round %d: %v", round, e)
			all++
			if !lengths.apart(e.from, e.to) {
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
	var edges []edge
	for v := width; v < width*layers; v++ {
		for range 3 {
			edges = append(edges, edge{int32(v/width*width - 1 - r.IntN(width)), int32(v)})
		}
	}
	d := newDAG(width*layers, edges)
	reduced := d.reduceWithin(workBound{}, workBound{})
	assert.Zero(t, reduced.undecided)
	assert.NotContains(t, reduced.redundant, true)
}
