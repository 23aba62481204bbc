package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// levels puts operations of the same level on different lanes, or deals each level out to k
// lanes, as the capturer of D.-L. Lin and T.-W. Huang does, "Efficient GPU Computation using
// Task Graph Parallelism", Euro-Par 2021 (Taskflow). Levels are submitted one after the other;
// nothing waits for a whole level.
//
//	level 0   1   2
//	      0 ─► 2 ─► 4          lane 0: 0 2 4
//	      1 ─► 3 ───┘    ==>   lane 1: 1 3      4 waits for 3
//
// The level of an operation is the length of the longest path to it, so that operations of one
// level are independent. The i-th operations of successive levels are unrelated: chains change
// lanes, and pay for waits, where one level has more operations than another.
type levels struct{ lanes int } // 0 means as many lanes as the widest level has operations

func (s levels) assign(g *ir.Graph, _ *Options) (assignment, error) {
	level := make([]int32, g.Len())
	order := programOrder(g)
	for _, v := range order {
		for _, d := range g.DepsInto(v) {
			level[v] = max(level[v], level[d.From]+1)
		}
	}
	slices.SortStableFunc(order, func(u, v ir.OpID) int { return cmp.Compare(level[u], level[v]) })
	lane := make([]ir.LaneID, g.Len())
	at := 0
	for i, v := range order {
		if i > 0 && level[v] != level[order[i-1]] {
			at = 0
		}
		lane[v] = ir.LaneID(at)
		if at++; at == s.lanes {
			at = 0
		}
	}
	return assignment{lane: lane, order: order}, nil
}
