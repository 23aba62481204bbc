package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// minCover keeps all the concurrency there is on the fewest lanes that can: as many as
// operations can run at the same time, which is the width of the graph (R. P. Dilworth,
// "A Decomposition Theorem for Partially Ordered Sets", Annals of Mathematics 1950).
// nimble has as many concurrent lanes or more, and as many waits or fewer.
//
//	0 ─► 1 ─► 2 ─► 3     two are concurrent at most:
//	     └──► 4 ─► 5     lane 0: 0 1 2 3, lane 1: 4 5
//
// The lanes are the paths of a minimum path cover. A node on several paths stays with
// one: with one that comes from a parent along an edge where there is one, for that edge
// needs no wait then.
type minCover struct{}

func (minCover) assign(g *ir.Graph, _ *Options) (assignment, error) {
	g, err := reduce(g) // fewer edges to look at, and those that are left need waits
	if err != nil {
		return assignment{}, err
	}
	d := dagOf(g)
	return assignment{lane: laneIDs(dense.MinimumPathCover(d).Partition())}, nil
}

// laneIDs returns lanes by their numbers.
func laneIDs(numbers []int32) []ir.LaneID {
	lanes := make([]ir.LaneID, len(numbers))
	for v, n := range numbers {
		lanes[v] = ir.LaneID(n)
	}
	return lanes
}
