package optimizer

import "github.com/reprise-gpu/reprise/ir"

// serial is the plan of a program without streams: one lane in program order. It is the
// reference for all other strategies.
//
//	0 ─► 1 ─► 2 ─► 3      lane 0: 0 1 2 3, no waits
type serial struct{}

func (serial) assign(g *ir.Graph, _ *Options) (assignment, error) {
	return assignment{lane: make([]ir.LaneID, g.Len())}, nil
}
