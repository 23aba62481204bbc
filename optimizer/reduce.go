package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// reduce removes every dependency that others imply, as far as this is decided within a bound of
// work (see dense.Reduction). Remaining dependencies keep their hazard and cause.
func reduce(g *ir.Graph) (*ir.Graph, error) {
	if g.Phase >= ir.Reduced {
		return g, nil
	}
	return without(g, dagOf(g).Reduce())
}

// reduceNoted is reduce; it also records the number of undecided dependencies in the result.
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

// without returns g in phase Reduced, without the redundant dependencies of r.
func without(g *ir.Graph, r *dense.Reduction) (*ir.Graph, error) {
	d, redundant := r.Graph, r.Redundant
	if !slices.Contains(redundant, true) {
		h := *g
		h.Phase = ir.Reduced
		return &h, nil
	}
	// Dependencies are sorted by To, and rows ascend in To, so that one cursor per row
	// finds the edge of each dependency.
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

// count returns the number of marks equal to want.
func count(marks []bool, want bool) (n int) {
	for _, m := range marks {
		if m == want {
			n++
		}
	}
	return n
}
