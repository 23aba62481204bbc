package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// order makes the host enqueue the longest path first if a replay is stream calls: an operation
// cannot start before its call, even if its lane is free. Operations are sorted by
// upward rank (H. Topcuoglu, S. Hariri and M.-Y. Wu, "Performance-Effective and
// Low-Complexity Task Scheduling for Heterogeneous Computing", IEEE TPDS 2002): the time from
// an operation's start to the end of the program if nothing shared the device.
//
//	0 ─► 1 ──────┐         ranks  0: 3, 1: 2, 2: 4, 3: 3, 4: 2, 5: 1
//	2 ─► 3 ─► 4 ─┴► 5      order  2 0 3 1 4 5
//
// Each transfer is then tried at other positions, because the call for a long copy delays calls for
// kernels that could run already. Lanes, waits and the order within lanes stay. The old order is
// kept unless another one is predicted to take less time.
func order(s *ir.Schedule, opts *Options) error {
	if opts.settled {
		return nil
	}
	f, err := newFoldSearch(s.Graph, opts)
	if err != nil || !f.streams {
		return nil // the pass predict reports the error
	}
	best, _ := f.within(s, horizon)
	f.keep()
	try := func(order []ir.OpID) {
		c := *s
		c.Order = order
		if took, ok := f.within(&c, best-1); ok && took < best {
			best, s.Order = took, order
		}
	}
	try(longestFirst(s, alone(s.Graph, f.profile, f.costs)))
	if s.Graph.Len() <= maxFolded {
		f.shift(s, try)
	}
	s.Lane, s.Lanes = renumbered(assignment{lane: s.Lane, order: s.Order})
	return nil
}

// shift tries each transfer at each position between its predecessors and successors, once, while the
// search is within its bound.
func (f *foldSearch) shift(s *ir.Schedule, try func(order []ir.OpID)) {
	preds := schedules.Predecessors(s)
	for v := range preds {
		if !f.free[v] {
			continue
		}
		is := func(u ir.OpID) bool { return u == ir.OpID(v) }
		rest := slices.DeleteFunc(slices.Clone(s.Order), is)
		first, last := 0, len(rest)
		for i, u := range rest {
			if slices.Contains(preds[v], u) {
				first = i + 1
			}
			if slices.Contains(preds[u], ir.OpID(v)) {
				last = min(last, i)
			}
		}
		for at := first; at <= last; at++ {
			if !f.goesOn() {
				return
			}
			try(slices.Insert(slices.Clone(rest), at, ir.OpID(v)))
		}
	}
}

// longestFirst returns the operations by descending upward rank. A successor's rank is never higher,
// and ties keep their order, so that the result is a topological order.
func longestFirst(s *ir.Schedule, took []model.Time) []ir.OpID {
	preds := schedules.Predecessors(s)
	after := make([]model.Time, len(preds)) // from the end of the operation to the end of the program
	rank := func(v ir.OpID) model.Time { return took[v] + after[v] }
	for _, v := range slices.Backward(s.Order) {
		for _, u := range preds[v] {
			after[u] = max(after[u], rank(v))
		}
	}
	order := slices.Clone(s.Order)
	slices.SortStableFunc(order, func(u, v ir.OpID) int { return cmp.Compare(rank(v), rank(u)) })
	return order
}
