package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// prefetch moves copies forward on their lanes: directly behind the operations they depend on, instead of
// behind kernels that share the lane and wait for something else. Strategies with few lanes
// produce such orders.
//
//	lane 0:  a ──────────► c             lane 0:  a ──────────► c
//	lane 1:  b waits for a ─► copy ─► d  lane 1:  copy ─► b waits for a ─► d
//
// Lanes stay, and waits follow from the new order. The effect depends on how long b would have waited,
// so that a move is kept only if the replay is predicted to end sooner. First all copies are moved
// together, then, in graphs of at most maxFolded operations, one by one.
func prefetch(s *ir.Schedule, opts *Options) error {
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return nil // the pass predict reports the error
	}
	best := f.makespan(s)
	try := func(moved []ir.OpID) {
		c := *s
		c.Order = hoisted(s, moved)
		if slices.Equal(c.Order, s.Order) {
			return
		}
		synchronize(&c)
		if took := f.makespan(&c); took < best {
			best, s.Order, s.Waits, s.Delays = took, c.Order, c.Waits, nil
		}
	}
	var copies []ir.OpID
	for _, v := range s.Order {
		if op := &s.Graph.Ops[v]; op.Kind == ir.KindCopy && !nothing(op) {
			copies = append(copies, v)
		}
	}
	if try(copies); s.Graph.Len() > maxFolded {
		return nil
	}
	for i := range copies {
		try(copies[i : i+1])
	}
	s.Lane, s.Lanes = renumbered(assignment{lane: s.Lane, order: s.Order})
	return nil
}

// hoisted returns the order of s with some operations moved directly behind the last operation that they
// depend on. Operations moved to the same place keep their order.
func hoisted(s *ir.Schedule, moved []ir.OpID) []ir.OpID {
	moves := make([]bool, s.Graph.Len())
	for _, v := range moved {
		moves[v] = true
	}
	left := make([]int, s.Graph.Len()) // by operation: number of dependencies not in order yet
	for _, d := range s.Graph.Deps() {
		left[d.To]++
	}
	order := make([]ir.OpID, 0, len(s.Order))
	var ready []ir.OpID // operations to move whose dependencies are all in order
	list := func(v ir.OpID) {
		order = append(order, v)
		for _, w := range s.Graph.Succs(v) {
			if left[w]--; left[w] == 0 && moves[w] {
				ready = append(ready, w)
			}
		}
	}
	flush := func() {
		for ; len(ready) > 0; ready = ready[1:] {
			list(ready[0])
		}
	}
	for _, v := range moved {
		if left[v] == 0 {
			ready = append(ready, v)
		}
	}
	flush()
	for _, v := range s.Order {
		if !moves[v] {
			list(v)
			flush()
		}
	}
	return order
}
