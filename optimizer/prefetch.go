package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// prefetch has copies run as early as their lanes allow: right behind what they depend on,
// and not behind kernels that share the lane and wait for something else. Strategies with few
// lanes put them there.
//
//	lane 0:  a ──────────► c             lane 0:  a ──────────► c
//	lane 1:  b waits for a ─► copy ─► d  lane 1:  copy ─► b waits for a ─► d
//
// Lanes stay, and waits follow from the new order. Whether that is of use depends on how
// long b would have waited, so a copy stays where it was unless the replay is predicted to
// end sooner: first all are moved, then, of graphs that are worth it, one after the other.
func prefetch(s *ir.Schedule, opts *Options) error {
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return nil // predict says so, if it is asked to
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

// hoisted is the order of s with some operations right behind the last of those that they
// depend on. Those that can go to one place keep their order.
func hoisted(s *ir.Schedule, moved []ir.OpID) []ir.OpID {
	moves := make([]bool, s.Graph.Len())
	for _, v := range moved {
		moves[v] = true
	}
	left := make([]int, s.Graph.Len()) // by operation: dependencies that are not listed yet
	for _, d := range s.Graph.Deps() {
		left[d.To]++
	}
	order := make([]ir.OpID, 0, len(s.Order))
	var ready []ir.OpID // moved, and behind all that they depend on
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
