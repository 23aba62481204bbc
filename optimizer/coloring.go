package optimizer

import (
	"fmt"

	"gonum.org/v1/gonum/graph/coloring"

	"github.com/reprise-gpu/reprise/ir"
)

// colored keeps all the concurrency there is by colouring the graph whose edges join
// operations that no path orders: a colour is a lane.
//
//	0 ─► 1 ─► 3         1 and 2, 2 and 3 are concurrent:
//	└──► 2              1 ── 2 ── 3, so two colours
//
// DSATUR (D. Brélaz, "New Methods to Color the Vertices of a Graph", CACM 1979) and
// recursive largest first (F. T. Leighton, J. Res. NBS 1979) are gonum's, whose graphs
// are of maps: they are for small programs. So is the exact search. It is here to be
// compared with: that graph is perfect, so that its chromatic number is the largest set
// of concurrent operations, and mincover comes to as few lanes for graphs of any size.
type colored struct {
	by func(*incomparability) ([]int32, error)
}

// maxColored is the most operations: DSATUR takes half a second for so many that are
// all independent, and its time grows with the cube.
const maxColored = 256

func (s colored) assign(g *ir.Graph, _ *Options) (assignment, error) {
	if g.Len() > maxColored {
		return assignment{}, fmt.Errorf("graphs of up to %d operations can be coloured, and this one has %d: mincover finds as few lanes for any", maxColored, g.Len())
	}
	colors, err := s.by(newIncomparability(dagOf(g)))
	if err != nil {
		return assignment{}, err
	}
	lane := make([]ir.LaneID, g.Len())
	for v, c := range colors {
		lane[v] = ir.LaneID(c)
	}
	return assignment{lane: lane}, nil
}

func dsatur(g *incomparability) ([]int32, error) {
	_, colors, err := coloring.Dsatur(g, nil)
	if err != nil {
		panic("BUG: " + err.Error()) // only a given part of a colouring can be wrong
	}
	return colorList(g, colors), nil
}

func largestFirst(g *incomparability) ([]int32, error) {
	_, colors := coloring.RecursiveLargestFirst(g)
	return colorList(g, colors), nil
}

func colorList(g *incomparability, colors map[int64]int) []int32 {
	list := make([]int32, len(g.rows))
	for v := range list {
		list[v] = int32(colors[int64(v)])
	}
	return list
}
