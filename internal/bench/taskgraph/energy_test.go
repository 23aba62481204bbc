package taskgraph

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// energy bounds replays on k lanes from below (E. B. Fernandez and B. Bussell, "Bounds on the Number of Processors and Time for
// Multiprocessor Optimal Schedules", IEEE Transactions on Computers 1973): by a deadline, each interval of time has to hold the part of each
// operation that neither an early start nor a late one moves out of it, and k lanes hold k times its length.
type energy struct {
	costs, head, tail []int64 // by operation: its time, and the longest path before it and behind it
	lanes             int64
}

func newEnergy(g *ir.Graph, lanes int) *energy {
	const gap = 340 // ns along an edge, of the H200
	n := g.Len()
	e := &energy{make([]int64, n), make([]int64, n), make([]int64, n), int64(lanes)}
	for v := range n {
		e.costs[v] = g.Ops[v].Cost
		for _, d := range g.DepsInto(ir.OpID(v)) {
			e.head[v] = max(e.head[v], e.head[d.From]+e.costs[d.From]+gap)
		}
	}
	for v := n - 1; v >= 0; v-- {
		for _, w := range g.Succs(ir.OpID(v)) {
			e.tail[v] = max(e.tail[v], gap+e.costs[w]+e.tail[w])
		}
	}
	return e
}

// fits reports whether no interval has to hold more than there is by a deadline. Where one has to, no plan meets the deadline.
func (e *energy) fits(deadline int64) bool {
	var at []int64
	for v, cost := range e.costs {
		late := deadline - e.tail[v] - cost
		if late < e.head[v] {
			return false
		}
		at = append(at, e.head[v], late, e.head[v]+cost, late+cost)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for i, from := range at {
		for _, to := range at[i+1:] {
			if e.within(from, to, deadline) > e.lanes*(to-from) {
				return false
			}
		}
	}
	return true
}

// within is the work that an interval has to hold.
func (e *energy) within(from, to, deadline int64) (work int64) {
	for v, cost := range e.costs {
		early := min(cost, to-from, max(0, e.head[v]+cost-from))
		late := min(cost, to-from, max(0, to-(deadline-e.tail[v]-cost)))
		work += min(early, late)
	}
	return work
}
