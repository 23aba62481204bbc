package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// prune removes waits without which the lanes and the other waits still imply every
// dependency, one at a time, and reports whether there was one. In the result no wait can be
// removed. Reduction alone does not find these waits: it keeps whatever the waits order, and a
// wait for a later operation (see retargets) orders more than any dependency requires.
//
// It computes a closure for each wait, so it is for graphs of at most maxFolded operations.
func prune(s *ir.Schedule) (pruned bool) {
	before := newClosure(s.Graph.Len())
	for _, v := range s.Order {
		for i := len(s.Waits[v]) - 1; i >= 0; i-- {
			all := s.Waits
			s.Waits = slices.Clone(all)
			s.Waits[v] = slices.Delete(slices.Clone(all[v]), i, i+1)
			if before.implies(s) {
				pruned = true
			} else {
				s.Waits = all
			}
		}
	}
	return pruned
}

// closureOf is, by operation, the operations that a schedule runs before it.
type closureOf []dense.Set

func newClosure(n int) closureOf {
	c := make(closureOf, n)
	for v := range c {
		c[v] = dense.NewSet(n)
	}
	return c
}

// implies reports whether lanes and waits of s imply every dependency.
func (c closureOf) implies(s *ir.Schedule) bool {
	last := slices.Repeat([]int32{-1}, s.Lanes)
	for _, v := range s.Order {
		clear(c[v])
		for _, u := range s.Waits[v] {
			c.join(v, u)
		}
		if u := last[s.Lane[v]]; u >= 0 {
			c.join(v, ir.OpID(u))
		}
		last[s.Lane[v]] = int32(v)
		for _, d := range s.Graph.DepsInto(v) {
			if !c[v].Has(int(d.From)) {
				return false
			}
		}
	}
	return true
}

// join makes v run after u and after all that runs before u.
func (c closureOf) join(v, u ir.OpID) {
	c[v].Unite(c[u])
	c[v].Add(int(u))
}
