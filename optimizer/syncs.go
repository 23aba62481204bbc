package optimizer

import (
	"iter"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// syncs sets the waits of a schedule whose lanes and order are decided: the
// smallest set that, together with the order within each lane, implies every dependency
// and orders nothing else.
//
//	lane 0:  a ─► b        b needs no wait: a precedes it on the lane.
//	          ╲    ╲       d depends on a and b: waiting for b is enough.
//	lane 1:    c ─► d      c waits for a.
//
// These waits are the edges between lanes of the transitive reduction of dependencies
// and lane order together. Any other set of waits under that rule has the
// same closure. The reduction of a DAG is the unique smallest graph with its
// closure, so that each of its edges is in every such set.
//
// The reduction has a bound of work, beyond which edges are kept undecided (see dense.Reduction). The
// waits are the fewest if no edge is undecided; the result holds their number.
func syncs(s *ir.Schedule, opts *Options) error {
	undecided := 0
	if !opts.settled {
		undecided = synchronize(s)
	}
	if opts.result != nil {
		opts.result.UndecidedWaits = undecided
	}
	return nil
}

// synchronize sets the waits and returns the number of undecided edges.
func synchronize(s *ir.Schedule) (undecided int) {
	r := leastOrderedWithin(s)
	s.Waits, s.Delays = crossing(s, r.Graph, r.Redundant), nil
	return r.Undecided
}

// leastOrdered returns that reduction. Vertices are numbered by submission.
func leastOrdered(s *ir.Schedule) *dense.Graph {
	r := leastOrderedWithin(s)
	return r.Graph.Without(r.Redundant)
}

// leastOrderedWithin returns the reduction together with its undecided edges.
func leastOrderedWithin(s *ir.Schedule) *dense.Reduction {
	rank := make([]int32, s.Graph.Len())
	for r, v := range s.Order {
		rank[v] = int32(r)
	}
	return dense.NewGraphOf(s.Graph.Len(), orderedEdges(s, rank)).Reduce()
}

// orderedEdges yields the order that a schedule must preserve, by rank of submission: the dependencies, and
// the edge from the predecessor on the same lane. Edges are grouped by target, each once.
func orderedEdges(s *ir.Schedule, rank []int32) iter.Seq[dense.Edge] {
	return func(yield func(dense.Edge) bool) {
		last := slices.Repeat([]int32{-1}, s.Lanes)
		for r, v := range s.Order {
			own := &last[s.Lane[v]]
			for _, d := range s.Graph.DepsInto(v) {
				if from := rank[d.From]; from != *own && !yield(dense.Edge{from, int32(r)}) {
					return
				}
			}
			if *own >= 0 && !yield(dense.Edge{*own, int32(r)}) {
				return
			}
			*own = int32(r)
		}
	}
}

// crossing returns, by operation, the tails of its incoming edges in d from other lanes, ascending, without the edges
// marked in drop, which may be nil. All rows share one array.
func crossing(s *ir.Schedule, d *dense.Graph, drop []bool) [][]ir.OpID {
	count := make([]int32, d.Len())
	total := 0
	eachCrossing(s, d, drop, func(_, v ir.OpID) { count[v]++; total++ })
	flat := make([]ir.OpID, total)
	waits := make([][]ir.OpID, d.Len())
	for v, n := range count {
		if n > 0 {
			waits[v], flat = flat[:0:n], flat[n:]
		}
	}
	eachCrossing(s, d, drop, func(u, v ir.OpID) { waits[v] = append(waits[v], u) })
	for _, w := range waits {
		slices.Sort(w)
	}
	return waits
}

// eachCrossing calls f for each edge of d whose ends are on different lanes, without those marked in drop. Vertices
// of d are numbered by submission.
func eachCrossing(s *ir.Schedule, d *dense.Graph, drop []bool, f func(u, v ir.OpID)) {
	for r, u := range s.Order {
		lane := s.Lane[u]
		for e := d.First[r]; e < d.First[r+1]; e++ {
			if drop != nil && drop[e] {
				continue
			}
			if v := s.Order[d.To[e]]; lane != s.Lane[v] {
				f(u, v)
			}
		}
	}
}
