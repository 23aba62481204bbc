package optimizer

import (
	"errors"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
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
	fewest, ok := dense.ExactColoring(g.rows, best, dense.MinimumPathCover(g.dag).Size(), maxColorSteps)
	if !ok {
		return nil, errSearchTooLong
	}
	return fewest, nil
}
