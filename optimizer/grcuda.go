package optimizer

import "github.com/reprise-gpu/reprise/ir"

// grcuda assigns streams as the runtime of A. Parravicini et al. does, "DAG-based
// Scheduling with Resource Sharing for Multi-task Applications in a Polyglot GPU
// Runtime", IPDPS 2021: launch by launch in program order, without look-ahead. An
// operation without parents is given a new lane. One with parents is given, by policy,
//
//	disjoint         the lane of the first parent whose lane no other child has taken,
//	                 else a new one: children of one parent run side by side
//	same-as-parent   the lane of the first parent
//
//	    ┌► 1 ┐      disjoint        same-as-parent
//	0 ──┤    ├► 3   lane 0: 0 1 3   lane 0: 0 1 2 3
//	    └► 2 ┘      lane 1: 2
//
// Parents are the dependencies that no other one implies, as in the paper. The first
// parent is the one issued first. The published results use disjoint; the default of the
// runtime is same-as-parent.
type grcuda struct{ sameAsParent bool }

func (s grcuda) assign(g *ir.Graph, _ *Options) (assignment, error) {
	g, err := reduce(g)
	if err != nil {
		return assignment{}, err
	}
	lane := make([]ir.LaneID, g.Len())
	taken := make([]bool, g.Len()) // by operation: a child has taken its lane
	next := ir.LaneID(0)
	for i := range lane {
		v := ir.OpID(i)
		parent := s.parent(g, v, taken)
		if parent < 0 {
			lane[v] = next
			next++
			continue
		}
		lane[v], taken[parent] = lane[parent], true
	}
	return assignment{lane: lane}, nil
}

// parent returns the operation whose lane v continues, or -1 for a new lane.
func (s grcuda) parent(g *ir.Graph, v ir.OpID, taken []bool) ir.OpID {
	for _, d := range g.DepsInto(v) {
		if s.sameAsParent || !taken[d.From] {
			return d.From
		}
	}
	return -1
}
