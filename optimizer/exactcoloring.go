package optimizer

import (
	"errors"
	"slices"
)

// Exact colouring by branch and bound in the order of DSATUR (Brélaz 1979): colour the
// node that sees the most colours, with each colour that it does not see and one new,
// and turn back where as many colours are used as a colouring is known to need.
//
// gonum has such a search too. It lists all maximal cliques beforehand, of which there
// are 3^(n/3) in the worst case, and tries colours in the order of a map. Here the graph
// tells how many colours are needed at least, and the limit is in steps, for one in
// seconds would give a slower machine another plan.

// maxColorSteps bounds the search, to about a second.
const maxColorSteps = 200_000

var errSearchTooLong = errors.New("the exact search takes too long: take coloring(rlf), or mincover, which finds the fewest lanes too")

func exactColoring(g *incomparability) ([]int32, error) {
	best, _ := largestFirst(g)
	if other, _ := dsatur(g); slices.Max(append(other, -1)) < slices.Max(append(best, -1)) {
		best = other
	}
	s := newColorSearch(g.rows, best, minimumPathCover(g.dag).size(), maxColorSteps)
	if s.fewest > s.enough && !s.extend(0) && s.steps < 0 {
		return nil, errSearchTooLong
	}
	return s.best, nil
}

// colorSearch is the state of the search.
type colorSearch struct {
	near   []bitset
	color  []int32 // by node, -1 for none yet
	best   []int32
	fewest int // colours of best
	enough int // no colouring has fewer
	steps  int // left
}

func newColorSearch(near []bitset, best []int32, enough, steps int) *colorSearch {
	fewest := int(slices.Max(append(slices.Clone(best), -1))) + 1
	return &colorSearch{near: near, color: filled(len(near), -1), best: best, fewest: fewest, enough: enough, steps: steps}
}

// extend colours what has no colour yet in every way that may be better than best, of
// which some colours are used already. It reports whether there is nothing more to find.
func (s *colorSearch) extend(used int) bool {
	if s.steps--; s.steps < 0 {
		return false
	}
	v, seen := s.choose(used)
	if v < 0 {
		s.best, s.fewest = slices.Clone(s.color), used
		return used <= s.enough
	}
	for c := 0; c <= used && max(used, c+1) < s.fewest; c++ {
		if seen.has(c) {
			continue
		}
		s.color[v] = int32(c)
		if s.extend(max(used, c+1)) {
			return true
		}
		s.color[v] = -1
	}
	return false
}

// choose is the node without a colour that sees the most of the used ones, then the one
// with the most neighbours, and what it sees; -1 when all have one.
func (s *colorSearch) choose(used int) (chosen int, seen bitset) {
	chosen = -1
	most, degree := -1, -1
	for v, c := range s.color {
		if c >= 0 {
			continue
		}
		sees, count, near := newBitset(used+1), 0, 0
		for w := s.near[v].next(0); w >= 0; w = s.near[v].next(w + 1) {
			near++
			if c := s.color[w]; c >= 0 && !sees.has(int(c)) {
				sees.set(int(c))
				count++
			}
		}
		if count > most || count == most && near > degree {
			chosen, seen, most, degree = v, sees, count, near
		}
	}
	return chosen, seen
}
