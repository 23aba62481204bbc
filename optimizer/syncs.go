package optimizer

import (
	"iter"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// syncs sets the waits of a schedule whose lanes and order are decided: the
// fewest that, together with the order within each lane, imply every dependency
// and order nothing else.
//
//	lane 0:  a ─► b        b waits for nothing: a is before it on the lane.
//	          ╲    ╲       d needs a and b: waiting for b is enough.
//	lane 1:    c ─► d      c still waits for a.
//
// They are the edges between lanes of the transitive reduction of dependencies
// and lane order together. Whatever waits one chooses under that rule have the
// closure of this graph; a DAG's reduction is the one least graph with its
// closure, so none of its edges can be missing from them.
//
// The reduction has a bound of work, beyond which edges are kept undecided (see reduction). Waits
// are the fewest where none is left so; the result has their number.
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

// synchronize sets the waits and returns how many edges are undecided.
func synchronize(s *ir.Schedule) (undecided int) {
	r := leastOrderedWithin(s)
	s.Waits, s.Delays = crossing(s, r.Graph, r.Redundant), nil
	return r.Undecided
}

// leastOrdered is that reduction, ranked by submission.
func leastOrdered(s *ir.Schedule) *dense.Graph {
	r := leastOrderedWithin(s)
	return r.Graph.Without(r.Redundant)
}

func leastOrderedWithin(s *ir.Schedule) *dense.Reduction {
	rank := make([]int32, s.Graph.Len())
	for r, v := range s.Order {
		rank[v] = int32(r)
	}
	return dense.NewGraphOf(s.Graph.Len(), orderedEdges(s, rank)).Reduce()
}

// orderedEdges yields all a schedule must keep in order, by rank of submission: the
// dependencies, and each operation behind the one before it on its lane. They come by target, each once.
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

// crossing collects, by operation, the tails of the edges of d that come from
// other lanes, ascending, but for the edges marked in drop; nil is none. All share one array.
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

// eachCrossing calls f for each edge of d, which is ranked by submission, whose
// ends are on different lanes, but for those marked in drop.
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
