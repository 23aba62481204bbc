package irtest

import (
	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// Analyze returns g in the Analyzed phase with a dependency for every pair of
// operations that access the same bytes, at least one of them by a write, and for every
// after edge. It compares all pairs, in O(n²), and is the oracle for tests of the optimizer's pass.
func Analyze(g *ir.Graph) *ir.Graph {
	accesses := make([][]ir.Access, g.Len())
	for v := range g.Ops {
		accesses[v] = g.Ops[v].Accesses(new([2]ir.Access))
	}
	var deps []ir.Dep
	var causes ir.Causes
	for v := range g.Ops {
		for u := range v {
			deps = append(deps, hazards(g, ir.OpID(u), ir.OpID(v), accesses[u], accesses[v], &causes)...)
		}
		for _, u := range g.Ops[v].After {
			deps = append(deps, ir.Dep{From: u, To: ir.OpID(v), Hazard: ir.Ordered})
		}
	}
	h, err := g.WithDeps(ir.Analyzed, deps, causes.Ranges())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return h
}

// hazards compares all accesses of u with all of v.
func hazards(g *ir.Graph, u, v ir.OpID, before, after []ir.Access, causes *ir.Causes) (deps []ir.Dep) {
	for _, a := range before {
		for _, b := range after {
			var h ir.Hazard
			if a.Mode.Writes() && b.Mode.Reads() {
				h |= ir.RAW
			}
			if a.Mode.Reads() && b.Mode.Writes() {
				h |= ir.WAR
			}
			if a.Mode.Writes() && b.Mode.Writes() {
				h |= ir.WAW
			}
			if h != 0 && a.Overlaps(b.Range) && meet(g.Box(a), g.Box(b)) {
				deps = append(deps, ir.Dep{From: u, To: v, Hazard: h, Cause: causes.ID(ir.Range{Buffer: a.Buffer, Lo: max(a.Lo, b.Lo), Hi: min(a.Hi, b.Hi)})})
			}
		}
	}
	return deps
}

// meet reports whether two boxes of a buffer have a byte in common. It compares all runs.
func meet(a, b box.Box) (met bool) {
	a.Runs(func(lo, hi int64) bool {
		b.Runs(func(from, to int64) bool {
			met = lo < to && from < hi
			return !met
		})
		return !met
	})
	return met
}
