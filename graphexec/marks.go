package graphexec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// marks are the operations of a program of one or more iterations that write the scalar of its loop
// first and last in an iteration. The reader of the scalar, a check, goes between two iterations:
//
//	opens ─► … ─► closes ─► reader ─► opens ─► … ─► closes ─► reader
//	└──── iteration 0 ───┘            └──── iteration 1 ───┘
type marks struct {
	opens   map[ir.OpID]bool // writers that no other writer of their iteration precedes
	closes  map[ir.OpID]int  // writers that no other one follows, and their iteration, from 0
	closing [][]ir.OpID      // by iteration: its operations in closes
}

// mark adds the marks of the next iteration.
func (m *marks) mark(opening, closing []ir.OpID) {
	for _, op := range opening {
		m.opens[op] = true
	}
	for _, op := range closing {
		m.closes[op] = len(m.closing)
	}
	m.closing = append(m.closing, closing)
}

// counts returns, by iteration, the number of its writers in closes.
func (m *marks) counts() []int {
	counts := make([]int, len(m.closing))
	for i, ops := range m.closing {
		counts[i] = len(ops)
	}
	return counts
}

// marksOf finds the marks in a schedule of the given number of iterations, which all have the same
// number of operations.
//
// For one iteration the writers may be unordered, and lanes and waits decide. For several, each
// writer must write the whole scalar. Any two writers then conflict, so the schedule keeps their
// order in the trace, and the first and the last of an iteration are those with the lowest and the
// highest number.
func marksOf(s *ir.Schedule, scalar ir.Range, iterations int) (marks, error) {
	m := marks{opens: map[ir.OpID]bool{}, closes: map[ir.OpID]int{}}
	writes := parts.Writers(s.Graph, scalar)
	if iterations == 1 {
		m.mark(outermost(s, writes))
		return m, nil
	}
	var scratch [2]ir.Access
	n := s.Graph.Len() / iterations
	for first := 0; first < s.Graph.Len(); first += n {
		var all []ir.OpID
		for v := first; v < first+n; v++ {
			if !writes[v] {
				continue
			}
			if !slices.ContainsFunc(s.Graph.Ops[v].Accesses(&scratch), func(a ir.Access) bool {
				return a.Mode.Writes() && a.Buffer == scalar.Buffer && s.Graph.Box(a).Holds(s.Graph.Box(ir.Access{Range: scalar}))
			}) {
				return m, parts.OpError(s.Graph, ir.OpID(v), errors.New("it writes a part of the scalar that ends the loop"))
			}
			all = append(all, ir.OpID(v))
		}
		if len(all) == 0 {
			return m, fmt.Errorf("iteration %d of the schedule does not write the scalar that ends the loop", first/n+1)
		}
		m.mark(all[:1], all[len(all)-1:])
	}
	return m, nil
}

// outermost returns the minimal and the maximal elements of the marked operations in the partial
// order of lanes and waits: those that no other marked operation precedes, and those that none
// follows. Two passes over the submission order, which is topological, propagate "a marked operation
// precedes" forward and "a marked operation follows" backward: O(operations + waits).
func outermost(s *ir.Schedule, marked []bool) (first, last []ir.OpID) {
	preceded, followed := make([]bool, len(marked)), make([]bool, len(marked))
	before := make([]ir.OpID, len(marked)) // on the lane, -1 for none
	tail := slices.Repeat([]ir.OpID{-1}, s.Lanes)
	for _, op := range s.Order {
		before[op], tail[s.Lane[op]] = tail[s.Lane[op]], op
		for _, u := range append(slices.Clone(s.Waits[op]), before[op]) {
			preceded[op] = preceded[op] || u >= 0 && (marked[u] || preceded[u])
		}
		if marked[op] && !preceded[op] {
			first = append(first, op)
		}
	}
	for _, op := range slices.Backward(s.Order) {
		if marked[op] && !followed[op] {
			last = append(last, op)
		}
		for _, u := range append(slices.Clone(s.Waits[op]), before[op]) {
			if u >= 0 {
				followed[u] = followed[u] || marked[op] || followed[op]
			}
		}
	}
	return first, last
}
