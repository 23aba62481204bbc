package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// withoutOps returns a copy of g, which has no dependencies yet, without the operations marked in drop. An operation
// that followed a dropped one follows what the dropped one followed.
func withoutOps(g *ir.Graph, drop []bool) *ir.Graph {
	if !slices.Contains(drop, true) {
		return g
	}
	h := *g
	h.Ops, h.Origin, h.Recorded = nil, nil, recorded(g)
	after := make([][]ir.OpID, len(g.Ops)) // by operation: its new id, or those of its predecessors if it is dropped
	for v := range g.Ops {
		op := g.Ops[v]
		op.After = nil
		for _, u := range g.Ops[v].After {
			op.After = append(op.After, after[u]...)
		}
		slices.Sort(op.After)
		op.After = slices.Compact(op.After)
		if drop[v] {
			after[v] = op.After
			continue
		}
		after[v] = []ir.OpID{ir.OpID(len(h.Ops))}
		h.Ops, h.Origin = append(h.Ops, op), append(h.Origin, traced.Origin(g, ir.OpID(v)))
	}
	return &h
}

// recorded returns the operations of the trace from which g was made.
func recorded(g *ir.Graph) []ir.Op {
	if g.Origin == nil {
		return g.Ops
	}
	return g.Recorded
}
