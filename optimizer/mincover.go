package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// minCover preserves all concurrency on the fewest possible lanes. Their number is the largest
// number of operations that can run at the same time, the width of the graph (R. P. Dilworth,
// "A Decomposition Theorem for Partially Ordered Sets", Annals of Mathematics 1950).
// nimble has at least as many lanes and at most as many waits.
//
//	0 ─► 1 ─► 2 ─► 3     two are concurrent at most:
//	     └──► 4 ─► 5     lane 0: 0 1 2 3, lane 1: 4 5
//
// The lanes are the paths of a minimum path cover. A node on several paths is assigned to
// one of them, if possible to a path on which it follows a parent directly, because that edge
// then needs no wait.
type minCover struct{}

func (minCover) assign(g *ir.Graph, _ *Options) (assignment, error) {
	g, err := reduce(g) // fewer edges; those that remain need waits
	if err != nil {
		return assignment{}, err
	}
	d := dagOf(g)
	return assignment{lane: laneIDs(dense.MinimumPathCover(d).Partition())}, nil
}

// laneIDs converts lane numbers.
func laneIDs(numbers []int32) []ir.LaneID {
	lanes := make([]ir.LaneID, len(numbers))
	for v, n := range numbers {
		lanes[v] = ir.LaneID(n)
	}
	return lanes
}
