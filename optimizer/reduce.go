package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// reduce drops every dependency that others imply, as far as that is decided within a bound of
// work (see reduction). What is left keeps its hazard and its cause.
func reduce(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Reduced {
		return g, nil
	}
	return without(g, dagOf(g).Reduce())
}

// reduceNoted is reduce, and notes in the result how many dependencies it left undecided.
func reduceNoted(g *ir.Graph, opts *Options) (*ir.Graph, error) {
	if g.Phase >= ir.Reduced {
		return g, nil
	}
	r := dagOf(g).Reduce()
	if opts.result != nil {
		opts.result.UndecidedDeps = r.Undecided
	}
	return without(g, r)
}

// without returns g reduced, without the dependencies that r found redundant.
func without(g *ir.Graph, r *dense.Reduction) (*ir.Graph, error) {
	d, redundant := r.Graph, r.Redundant
	if !slices.Contains(redundant, true) {
		return g.InPhase(ir.Reduced), nil
	}
	// Dependencies come by To and rows ascend in To, so one cursor per row
	// finds each dependency's edge.
	next := slices.Clone(d.First)
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
