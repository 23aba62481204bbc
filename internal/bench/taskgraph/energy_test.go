package taskgraph

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// energy computes a lower bound of replays on k lanes (E. B. Fernandez and B. Bussell, "Bounds on the Number of
// Processors and Time for Multiprocessor Optimal Schedules", IEEE Transactions on Computers 1973). For a given
// deadline, each interval of time must contain the part of each operation that lies in the interval both with the
// earliest and with the latest start. k lanes have room for k times the length of the interval.
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

// fits reports whether every interval has room for the work that it must contain. If one does not, no plan meets the
// deadline.
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

// within returns the work that an interval must contain.
func (e *energy) within(from, to, deadline int64) (work int64) {
	for v, cost := range e.costs {
		early := min(cost, to-from, max(0, e.head[v]+cost-from))
		late := min(cost, to-from, max(0, to-(deadline-e.tail[v]-cost)))
		work += min(early, late)
	}
	return work
}
