package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// reduce drops every dependency that others imply. What is left keeps its hazard
// and its cause.
func reduce(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Reduced {
		return g, nil
	}
	d := dagOf(g)
	redundant := d.redundantEdges()
	if !slices.Contains(redundant, true) {
		return g.WithDeps(ir.Reduced, g.Deps(), g.Causes()) // which the two then share
	}
	// Dependencies come by To and rows ascend in To, so one cursor per row
	// finds each dependency's edge.
	next := slices.Clone(d.first)
	kept := make([]ir.Dep, 0, count(redundant, false))
	var causes ir.Causes
	for _, dep := range g.Deps() {
		if !redundant[next[dep.From]] {
			dep.Cause = causes.ID(g.Cause(dep))
			kept = append(kept, dep)
		}
		next[dep.From]++
	}
	return g.WithDeps(ir.Reduced, kept, causes.Ranges())
}

func count(marks []bool, want bool) (n int) {
	for _, m := range marks {
		if m == want {
			n++
		}
	}
	return n
}
