package irtest

import (
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Schedule returns a valid schedule of an analyzed or reduced graph: a random
// topological order over random lanes, at most the given number, with a wait
// for every dependency between lanes. It plans no arena.
func Schedule(r *rand.Rand, g *ir.Graph, lanes int) *ir.Schedule {
	n := g.Len()
	s := &ir.Schedule{
		Graph:    g,
		Strategy: "random",
		Lanes:    min(n, 1+r.IntN(lanes)),
		Order:    order(r, g),
		Lane:     make([]ir.LaneID, n),
		Waits:    make([][]ir.OpID, n),
	}
	for at, v := range s.Order {
		s.Lane[v] = ir.LaneID(at) // the first operations make sure that no lane is empty
		if at >= s.Lanes {
			s.Lane[v] = ir.LaneID(r.IntN(s.Lanes))
		}
	}
	for _, d := range g.Deps() {
		if s.Lane[d.From] != s.Lane[d.To] {
			s.Waits[d.To] = append(s.Waits[d.To], d.From)
		}
	}
	return s
}

// order draws a ready operation for every turn.
func order(r *rand.Rand, g *ir.Graph) []ir.OpID {
	blocked := make([]int, g.Len())
	var ready, done []ir.OpID
	for v := range blocked {
		if blocked[v] = len(g.DepsInto(ir.OpID(v))); blocked[v] == 0 {
			ready = append(ready, ir.OpID(v))
		}
	}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		v := ready[i]
		ready = slices.Delete(ready, i, i+1)
		done = append(done, v)
		for _, w := range g.Succs(v) {
			if blocked[w]--; blocked[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return done
}
