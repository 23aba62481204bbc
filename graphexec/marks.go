package graphexec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// marks are where a program of some iterations writes the scalar of a loop.
type marks struct {
	opens   map[ir.OpID]bool // which no other writer of its iteration precedes
	closes  map[ir.OpID]int  // which none follows: the iteration, from 0
	closing [][]ir.OpID      // the latter by iteration
}

func (m *marks) mark(opening, closing []ir.OpID) {
	for _, op := range opening {
		m.opens[op] = true
	}
	for _, op := range closing {
		m.closes[op] = len(m.closing)
	}
	m.closing = append(m.closing, closing)
}

// counts is how many writers close each iteration.
func (m *marks) counts() []int {
	counts := make([]int, len(m.closing))
	for i, ops := range m.closing {
		counts[i] = len(ops)
	}
	return counts
}

// marksOf finds the marks in a schedule of the given number of iterations, which all have the same number of operations.
// In several iterations, each writer must write the whole scalar: then the writers have the same order in the trace and
// in the schedule.
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
				return a.Mode.Writes() && a.Buffer == scalar.Buffer && a.Lo <= scalar.Lo && scalar.Hi <= a.Hi
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

// outermost returns which of the marked operations no other of them precedes by lanes and
// waits, and which no other follows.
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
