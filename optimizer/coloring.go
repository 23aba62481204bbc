package optimizer

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/coloring"

	"github.com/reprise-gpu/reprise/dag"
	"github.com/reprise-gpu/reprise/ir"
)

// colored keeps all the concurrency there is by colouring the graph whose edges join
// operations that no path orders: a colour is a lane.
//
//	0 ─► 1 ─► 3         1 and 2, 2 and 3 are concurrent:
//	└──► 2              1 ── 2 ── 3, so two colours
//
// DSATUR (D. Brélaz, "New Methods to Color the Vertices of a Graph", CACM 1979) and
// recursive largest first (F. T. Leighton, J. Res. NBS 1979) are gonum's, whose colourings
// are in maps: they are for small programs. So is the exact search. It is here to be
// compared with: the graph is perfect, so its chromatic number is the largest set
// of concurrent operations, and mincover comes to as few lanes for graphs of any size.
type colored struct {
	by func(g *ir.Graph, apart graph.Undirected) (map[int64]int, error)
}

// maxColored is the most operations: DSATUR takes half a second for so many that are
// all independent, and its time grows with the cube.
const maxColored = 256

func (s colored) assign(g *ir.Graph, _ *Options) (assignment, error) {
	if g.Len() > maxColored {
		return assignment{}, fmt.Errorf("graphs of up to %d operations can be coloured, and this one has %d: mincover finds as few lanes for any", maxColored, g.Len())
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

func dsatur(_ *ir.Graph, apart graph.Undirected) (map[int64]int, error) {
	_, colors, err := coloring.Dsatur(apart, nil)
	return colors, err
}

func largestFirst(_ *ir.Graph, apart graph.Undirected) (map[int64]int, error) {
	_, colors := coloring.RecursiveLargestFirst(apart)
	return colors, nil
}

// maxColorSteps bounds the exact search, to about a second.
const maxColorSteps = 200_000

var errSearchTooLong = errors.New("the exact search takes too long: take coloring(rlf), or mincover, which finds the fewest lanes too")

// exactColoring ends its search at the width of g, below which no colouring is valid.
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
