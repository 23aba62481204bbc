package dense

import (
	"math"
	"slices"
)

// rankCut reduces by search. For each node, from the last to the first, it walks from the successors along edges
// already known to be needed, up to the rank of the last successor. A successor that a walk reaches is implied.
//
//	u ──► v ──► w ──► x ──► ...      rows ascend, so from v the walk need not
//	└───────────▲                    go beyond w, the last that u leads to
//
// Close to linear when edges are short. Up to V·E when they are long.
type rankCut struct {
	*Reduction
	node  int32   // the next to be reduced
	kept  []int32 // the rows of d, squeezed as nodes are finished
	end   []int32 // kept[d.First[v]:end[v]] are v's successors so far
	seen  []int32 // by node: the last node whose search has reached it
	goal  []int32 // by node: the node whose search has it as a goal that is not reached yet, else another
	goals int     // number of goals that the current search has not reached
	deep  int32   // the greatest depth of the goals
	low   int32   // the least height of the goals
	list  []int32 // the goals, met or not
	stack []int32
	work  int // edges visited
	stop  int // the amount of work at which walks end, even with goals left
}

func newRankCut(r *Reduction) *rankCut {
	s := &rankCut{Reduction: r, node: int32(r.Graph.Len()) - 1, stop: math.MaxInt}
	s.kept = slices.Clone(r.Graph.To)
	s.end = slices.Clone(r.Graph.First[1:])
	s.seen, s.goal = slices.Repeat([]int32{-1}, r.Graph.Len()), slices.Repeat([]int32{-1}, r.Graph.Len())
	return s
}

// run reduces the remaining rows, down to the first. It stops when the total work exceeds the budget, and reports
// whether it has reduced all rows.
func (s *rankCut) run(budget int) bool {
	for ; s.node >= 0; s.node-- {
		if s.work > budget {
			return false
		}
		s.reduceRow(s.node)
	}
	return true
}

// skimLooks is the number of edges that skim visits for a row and for each edge in it.
const skimLooks = 4

// skim reduces the remaining rows by walks with a small bound of work, and counts the edges that it leaves undecided.
func (s *rankCut) skim() {
	for ; s.node >= 0; s.node-- {
		row := s.Graph.Succs(s.node)
		s.stop = s.work + skimLooks*(1+len(row))
		s.reduceRow(s.node)
	}
	s.stop = math.MaxInt
}

// reduceRow squeezes redundant edges out of u's row. Rows ascend, so whatever
// reaches a successor has been walked by the time its turn comes.
func (s *rankCut) reduceRow(u int32) {
	first := s.Graph.First[u]
	row := s.Graph.Succs(u)
	last := s.setGoals(u, row)
	n := first
	for i, v := range row {
		e := first + int32(i)
		if s.Redundant[e] || s.seen[v] == u {
			s.Redundant[e] = true
			continue
		}
		s.kept[n] = v
		n++
		if s.goal[v] == u {
			s.meet(v) // by the edge itself
			if s.work > s.stop {
				s.Undecided++
			}
		}
		if s.goals > 0 && s.work <= s.stop && s.leads(v, last) {
			s.walk(u, v, last)
		}
	}
	s.end[u] = n
	s.work += len(row)
}

// setGoals makes the contested successors of u the goals of its walks. It returns the highest, -1 for none.
func (s *rankCut) setGoals(u int32, row []int32) (last int32) {
	last, s.goals, s.list = -1, 0, s.list[:0]
	s.deep, s.low = -1, math.MaxInt32
	for i, v := range row {
		if s.contested(u, i, v) {
			last, s.goal[v] = v, u
			s.bound(v)
			s.goals++
			s.list = append(s.list, v)
		}
	}
	return last
}

// bound extends the bounds of depth and height of the goals by one goal.
func (s *rankCut) bound(goal int32) {
	if s.lengths != nil {
		s.deep, s.low = max(s.deep, s.lengths[goal].depth), min(s.low, s.lengths[goal].height)
	}
}

// leads reports whether a walk from v may come to a goal, the last of which has rank last.
func (s *rankCut) leads(v, last int32) bool {
	return v < last && (s.lengths == nil || s.lengths[v].depth < s.deep && s.lengths[v].height > s.low)
}

// walk marks what v reaches up to rank last as seen from u, the highest first, until it has met
// all goals: most edges are implied by a path that leads straight to their end.
func (s *rankCut) walk(u, v, last int32) {
	s.stack = append(s.stack[:0], v)
	for len(s.stack) > 0 && s.work <= s.stop {
		v = s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		row := s.kept[s.Graph.First[v]:s.end[v]]
		if len(row) > longRow*len(s.list) && s.find(u, row) {
			return
		}
		row = row[:min(len(row), max(1, s.stop-s.work))]
		s.work += len(row)
		for _, w := range row {
			if w > last {
				break
			}
			if s.seen[w] == u {
				continue
			}
			s.seen[w] = u
			if s.goal[w] == u {
				if s.meet(w); s.goals == 0 {
					return
				}
			}
			if s.leads(w, last) {
				s.stack = append(s.stack, w)
			}
		}
	}
}

// longRow is the number of edges per goal from which on a walk looks the goals up in a row before it walks the row.
const longRow = 32

// find meets the goals of u that are in a row, from which the walk goes on, and reports whether those were
// all. Without it, a walk behind a fork-join would visit half of the next fork for each of its nodes.
func (s *rankCut) find(u int32, row []int32) bool {
	for _, w := range s.list {
		if s.goal[w] != u {
			continue
		}
		s.work++
		if _, found := slices.BinarySearch(row, w); found {
			s.seen[w] = u
			s.meet(w)
			s.stack = append(s.stack, w)
		}
	}
	return s.goals == 0
}

// meet notes that a goal has been met.
func (s *rankCut) meet(w int32) {
	s.goal[w] = -1
	s.goals--
}
