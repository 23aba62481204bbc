package why

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// path returns a shortest path between two operations, with both ends, or nil.
func path(n int, preds func(ir.OpID) []ir.OpID, from, to ir.OpID) []ir.OpID {
	next := slices.Repeat([]ir.OpID{-1}, n) // by operation: the one behind it on the way to the end
	queue := []ir.OpID{to}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, u := range preds(v) {
			if next[u] >= 0 {
				continue
			}
			next[u] = v
			if u == from {
				return follow(next, from, to)
			}
			queue = append(queue, u)
		}
	}
	return nil
}

func follow(next []ir.OpID, from, to ir.OpID) []ir.OpID {
	all := []ir.OpID{from}
	for v := from; v != to; {
		v = next[v]
		all = append(all, v)
	}
	return all
}

// depsInto returns the operations on which v depends directly.
func depsInto(g *ir.Graph) func(v ir.OpID) []ir.OpID {
	return func(v ir.OpID) (all []ir.OpID) {
		for _, d := range g.DepsInto(v) {
			all = append(all, d.From)
		}
		return all
	}
}

// except returns predecessors without the edge between two operations.
func except(preds func(ir.OpID) []ir.OpID, from, to ir.OpID) func(ir.OpID) []ir.OpID {
	return func(v ir.OpID) []ir.OpID {
		all := preds(v)
		if v != to {
			return all
		}
		return slices.DeleteFunc(slices.Clone(all), func(u ir.OpID) bool { return u == from })
	}
}

// reach returns an operation and all that follow it, or precede it, by the given neighbours.
func reach(n int, neighbours func(ir.OpID) []ir.OpID, v ir.OpID) (all []ir.OpID) {
	seen := make([]bool, n)
	seen[v] = true
	all = []ir.OpID{v}
	for i := 0; i < len(all); i++ {
		for _, u := range neighbours(all[i]) {
			if !seen[u] {
				seen[u] = true
				all = append(all, u)
			}
		}
	}
	return all
}
