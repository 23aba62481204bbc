package dense

import "slices"

// ExactColoring returns a colouring with the fewest colours of the undirected graph in which near[v]
// is the set of v's neighbours. It starts from a valid colouring best and stops at one with as few
// colours as enough, a lower bound. ok is false if that takes more than the given number of steps.
//
// It is branch and bound in the order of DSATUR (D. Brélaz, "New Methods to Color the Vertices of a
// Graph", CACM 1979): colour the node that sees the most colours, with each colour that it does not
// see and one new, and return where as many colours are used as in the best colouring known. The
// limit is in steps, since one in seconds would give a slower machine another result.
func ExactColoring(near []Set, best []int32, enough, steps int) (fewest []int32, ok bool) {
	s := newColorSearch(near, best, enough, steps)
	ok = s.fewest <= s.enough || s.extend(0) || s.steps >= 0
	return s.best, ok
}

// colorSearch is the state of the search.
type colorSearch struct {
	near   []Set
	color  []int32 // by node, -1 for none yet
	best   []int32
	fewest int // colours of best
	enough int // lower bound of the number of colours
	steps  int // left
}

func newColorSearch(near []Set, best []int32, enough, steps int) *colorSearch {
	fewest := int(slices.Max(append(slices.Clone(best), -1))) + 1
	return &colorSearch{near: near, color: slices.Repeat([]int32{-1}, len(near)), best: best, fewest: fewest, enough: enough, steps: steps}
}

// extend tries all colourings of the remaining nodes that may be better than best. used is the number of colours
// in use. It reports whether a colouring with enough colours was found, so that the search ends.
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
		if seen.Has(c) {
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

// choose returns the node without a colour whose neighbours have the most different colours, and the set of
// these colours. Ties go to the node with the most neighbours. It returns -1 if all nodes have a colour.
func (s *colorSearch) choose(used int) (chosen int, seen Set) {
	chosen = -1
	most, degree := -1, -1
	for v, c := range s.color {
		if c >= 0 {
			continue
		}
		sees, count, near := NewSet(used+1), 0, 0
		for w := s.near[v].Next(0); w >= 0; w = s.near[v].Next(w + 1) {
			near++
			if c := s.color[w]; c >= 0 && !sees.Has(int(c)) {
				sees.Add(int(c))
				count++
			}
		}
		if count > most || count == most && near > degree {
			chosen, seen, most, degree = v, sees, count, near
		}
	}
	return chosen, seen
}
