package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// prune removes waits that lanes and other waits imply as far as dependencies require, one at a
// time, and reports whether it removed any. In the result no wait can be removed without losing a
// dependency. A transitive reduction alone does not achieve this: it preserves all orders, and a
// wait for a later operation (see retargets) orders more than the dependencies require.
//
// It computes a closure for each wait, in O(W·V²/64), and is for graphs of at most maxFolded operations.
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

// closureOf holds, by operation, the operations that a schedule orders before it.
type closureOf []dense.Set

// newClosure returns the memory of a closure of n operations.
func newClosure(n int) closureOf {
	c := make(closureOf, n)
	for v := range c {
		c[v] = dense.NewSet(n)
	}
	return c
}

// implies computes the closure of s and reports whether lanes and waits imply every dependency.
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

// join orders v after u and after all operations before u.
func (c closureOf) join(v, u ir.OpID) {
	c[v].Unite(c[u])
	c[v].Add(int(u))
}
