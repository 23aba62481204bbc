package optimizer

import "github.com/reprise-gpu/reprise/ir"

// roundRobin deals operations out to lanes in program order, without regard to dependencies,
// as a simple pool of streams does. It is the baseline for other strategies with the same
// number of lanes.
//
//	0 ─► 2 ─► 3          lane 0: 0 2
//	1 ────────┘    ==>   lane 1: 1 3      3 waits for 2
type roundRobin struct{ lanes int }

func (s roundRobin) assign(g *ir.Graph, _ *Options) (assignment, error) {
	lane := make([]ir.LaneID, g.Len())
	for v := range lane {
		lane[v] = ir.LaneID(v % s.lanes)
	}
	return assignment{lane: lane}, nil
}
