package optimizer

import "github.com/reprise-gpu/reprise/ir"

// reduce drops every dependency that others imply. What is left keeps its hazard
// and its cause.
func reduce(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Reduced {
		return g, nil
	}
	d := dagOf(g)
	redundant := d.redundantEdges()
	// Dependencies come by To and rows ascend in To, so one cursor per row
	// finds each dependency's edge.
	next := append([]int32(nil), d.first...)
	kept := make([]ir.Dep, 0, len(g.Deps()))
	for _, dep := range g.Deps() {
		if !redundant[next[dep.From]] {
			kept = append(kept, dep)
		}
		next[dep.From]++
	}
	return g.WithDeps(ir.Reduced, kept)
}
