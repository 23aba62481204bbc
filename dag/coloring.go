package dag

import (
	"errors"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/coloring"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/dense"
)

// ErrSteps is the error of ExactColoring if the search reached its bound of steps.
var ErrSteps = errors.New("dag: the search for a colouring reached its bound of steps")

// ExactColoring returns the chromatic number k of g and a colouring with the colours 0 to k-1, by
// node ID, as gonum's colourings do.
//
// It starts from the better of gonum's DSATUR and recursive largest first, and improves it by branch
// and bound in the order of DSATUR (D. Brélaz, "New Methods to Color the Vertices of a Graph", CACM
// 1979): the node whose neighbours have the most colours is coloured next, with each colour that none
// of them has, and with one new colour. The search ends early at a colouring with atLeast colours. This
// is a lower bound that the caller supplies, such as the size of a clique; 0 is always valid.
//
// A step takes O(V²). If the search needs more than maxSteps steps, the error is ErrSteps, and k and
// colors are the best colouring found. gonum's DsaturExact lists all maximal cliques first, of which
// there are up to 3^(V/3), and its bound is time, so its result depends on the machine.
func ExactColoring(g graph.Undirected, atLeast, maxSteps int) (k int, colors map[int64]int, err error) {
	if absent.Is(g) {
		return 0, nil, errNoGraph
	}
	x := byID(g.Nodes())
	rows := rowsOf(x, g)
	ordered := &bitGraph{x, rows} // iterates in the order of IDs, so that the result is deterministic
	k, colors = coloring.RecursiveLargestFirst(ordered)
	if other, list, err := coloring.Dsatur(ordered, nil); err == nil && other < k {
		k, colors = other, list
	}
	best := make([]int32, len(x.nodes))
	for v, n := range x.nodes {
		best[v] = int32(colors[n.ID()])
	}
	best, ok := dense.ExactColoring(rows, best, atLeast, maxSteps)
	k = 0
	for v, n := range x.nodes {
		colors[n.ID()] = int(best[v])
		k = max(k, int(best[v])+1)
	}
	if !ok {
		err = ErrSteps
	}
	return k, colors, err
}

// rowsOf returns the neighbours of each node as sets.
func rowsOf(x index, g graph.Undirected) []dense.Set {
	rows := make([]dense.Set, len(x.nodes))
	for v, list := range x.neighbours(g.From) {
		rows[v] = dense.NewSet(len(x.nodes))
		for _, w := range list {
			rows[v].Add(int(w))
		}
	}
	return rows
}
