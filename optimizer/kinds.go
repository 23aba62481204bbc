package optimizer

import "github.com/reprise-gpu/reprise/ir"

// has reports whether g has an operation of a kind. It reads the operations in place: each fills two cache lines, and
// passes over a million of them copy none.
func has(g *ir.Graph, is func(ir.Kind) bool) bool {
	for v := range g.Ops {
		if is(g.Ops[v].Kind) {
			return true
		}
	}
	return false
}

func isPrefetch(k ir.Kind) bool { return k == ir.KindPrefetch }
