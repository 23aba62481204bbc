package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// order has the host enqueue the longest path first, where a replay is calls for streams:
// what it has not called for cannot start, however free its lane is. The measure is the
// upward rank of H. Topcuoglu, S. Hariri and M.-Y. Wu, "Performance-Effective and
// Low-Complexity Task Scheduling for Heterogeneous Computing", IEEE TPDS 2002: the time from
// an operation's start to the end of the program if nothing had to share the device.
//
//	0 ─► 1 ──────┐         ranks  0: 3, 1: 2, 2: 4, 3: 3, 4: 2, 5: 1
//	2 ─► 3 ─► 4 ─┴► 5      order  2 0 3 1 4 5
//
// Transfers are then tried elsewhere, since a call for a long copy that nobody waits for yet
// holds up calls for kernels. Lanes and waits stay, and so does the order within each lane.
// The old order stays too when no other is predicted to take less.
func order(s *ir.Schedule, opts *Options) error {
	if opts.settled {
		return nil
	}
	f, err := newFolder(s.Graph, opts)
	if err != nil || !f.streams {
		return nil // predict says what cannot be foreseen, if it is asked to
	}
	best, _ := f.within(s, farthest)
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

// shift tries each transfer at each place between those before and behind it, once,
// as long as the search may go on.
func (f *folder) shift(s *ir.Schedule, try func(order []ir.OpID)) {
	preds := predecessors(s)
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

// longestFirst sorts by upward rank. What follows an operation ranks no higher than that,
// and ties keep their order, so that the result is a topological order again.
func longestFirst(s *ir.Schedule, took []model.Time) []ir.OpID {
	preds := predecessors(s)
	after := make([]model.Time, len(preds)) // from the operation's end to that of the program
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
