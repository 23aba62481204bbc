package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// assign applies the strategy and numbers its lanes 0, 1, ... in order of first
// use, so that equal assignments print alike.
//
// Operations are submitted in program order unless the strategy returns an order.
// For an explicit CUDA graph the order has no effect. With streams it is also the
// order of the calls: a late call delays its operation even if its lane is free.
func assign(s *ir.Schedule, opts *Options) error {
	name, chosen, err := strategyNamed(opts.Strategy)
	if err != nil {
		return err
	}
	if opts.grains != nil {
		chosen = grained{opts.grains, chosen}
	}
	a, err := chosen.assign(s.Graph, opts)
	if err != nil {
		return fmt.Errorf("strategy %s: %w", name, err)
	}
	if a.by != "" {
		name = a.by
	}
	place(s, name, a)
	opts.settled = a.waits != nil
	return nil
}

// place stores an assignment in the schedule.
func place(s *ir.Schedule, name string, a assignment) {
	if a.order == nil {
		a.order = programOrder(s.Graph)
	}
	if len(a.lane) != s.Graph.Len() || len(a.order) != s.Graph.Len() {
		panic(fmt.Sprintf("BUG: strategy %s placed %d and ordered %d of %d operations", name, len(a.lane), len(a.order), s.Graph.Len()))
	}
	s.Strategy, s.Order, s.Waits, s.Delays = name, a.order, a.waits, a.delays
	s.Lane, s.Lanes = renumbered(a)
}

// programOrder returns the operations of g in program order.
func programOrder(g *ir.Graph) []ir.OpID {
	order := make([]ir.OpID, g.Len())
	for v := range order {
		order[v] = ir.OpID(v)
	}
	return order
}

// renumbered gives lanes dense numbers in order of first use.
func renumbered(a assignment) ([]ir.LaneID, int) {
	var top ir.LaneID = -1
	for _, l := range a.lane {
		top = max(top, l)
	}
	number := make([]ir.LaneID, top+1)
	lanes := ir.LaneID(0)
	for _, v := range a.order {
		if l := a.lane[v]; number[l] == 0 {
			lanes++
			number[l] = lanes // plus one; zero means not numbered yet
		}
	}
	lane := make([]ir.LaneID, len(a.lane))
	for v, l := range a.lane {
		lane[v] = number[l] - 1
	}
	return lane, int(lanes)
}
