package optimizer

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/coloring"

	"github.com/reprise-gpu/reprise/dag"
	"github.com/reprise-gpu/reprise/ir"
)

// colored preserves all concurrency by colouring the incomparability graph, whose edges join
// operations that no path orders. A colour is a lane.
//
//	0 ─► 1 ─► 3         1 and 2, 2 and 3 are concurrent:
//	└──► 2              1 ── 2 ── 3, so two colours
//
// DSATUR (D. Brélaz, "New Methods to Color the Vertices of a Graph", CACM 1979) and
// recursive largest first (F. T. Leighton, J. Res. NBS 1979) are gonum's. They keep colourings
// in maps and suit only small programs. The exact search, also for small programs, is the
// reference of the tests. The graph is perfect: its chromatic number is the size of the largest
// set of concurrent operations. mincover finds the same number of lanes for graphs of any size.
type colored struct {
	by func(g *ir.Graph, apart graph.Undirected) (map[int64]int, error)
}

// maxColored is the largest number of operations. DSATUR takes half a second for this number of
// independent operations, and its time grows with the cube.
const maxColored = 256

func (s colored) assign(g *ir.Graph, _ *Options) (assignment, error) {
	if g.Len() > maxColored {
		return assignment{}, fmt.Errorf("the graph has %d operations and colouring is limited to %d: use mincover, which finds the fewest lanes for any size", g.Len(), maxColored)
	}
	apart, err := dag.Incomparability(g)
	if err != nil {
		return assignment{}, err
	}
	colors, err := s.by(g, apart)
	if err != nil {
		return assignment{}, err
	}
	lane := make([]ir.LaneID, g.Len())
	for v := range lane {
		lane[v] = ir.LaneID(colors[int64(v)])
	}
	return assignment{lane: lane}, nil
}

// dsatur colours by gonum's DSATUR.
func dsatur(_ *ir.Graph, apart graph.Undirected) (map[int64]int, error) {
	_, colors, err := coloring.Dsatur(apart, nil)
	return colors, err
}

// largestFirst colours by gonum's recursive largest first.
func largestFirst(_ *ir.Graph, apart graph.Undirected) (map[int64]int, error) {
	_, colors := coloring.RecursiveLargestFirst(apart)
	return colors, nil
}

// maxColorSteps bounds the steps of the exact search, to about a second.
const maxColorSteps = 200_000

var errSearchTooLong = errors.New("the exact search takes too long: use mincover, which finds the fewest lanes too, or coloring(rlf)")

// exactColoring stops its search at the width of g, which is a lower bound of the number of colours.
func exactColoring(g *ir.Graph, apart graph.Undirected) (map[int64]int, error) {
	widest, err := dag.MaximumAntichain(g)
	if err != nil {
		return nil, err
	}
	_, colors, err := dag.ExactColoring(apart, len(widest), maxColorSteps)
	if errors.Is(err, dag.ErrSteps) {
		return nil, errSearchTooLong
	}
	return colors, err
}
