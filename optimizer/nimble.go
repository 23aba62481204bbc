package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// nimble is the stream assignment of Kwon, Yu, Jeong and Chun, "Nimble:
// Lightweight and Parallel GPU Task Scheduling for Deep Learning", NeurIPS 2020:
// operations that no path orders never share a lane, and among all assignments
// like that this one needs the fewest waits.
//
//	reduced graph           left to right, matched ═    lanes
//
//	    ┌► 1 ┐              0 ═ 1   0 ─ 2               0: 0 1 3
//	0 ──┤    ├► 3    ==>    1 ═ 3   2 ─ 3        ==>    1: 2
//	    └► 2 ┘                                          waits: 2 after 0, 3 after 2
//
// A lane of such an assignment is a chain, and a reduced edge within a lane joins
// neighbours, for anything between its ends would imply it. So the edges that
// need no wait form a matching between tails and heads, and a maximum matching M
// leaves |E'| - |M| waits, which is the minimum.
//
// The matching alone leaves one lane per path, 28 on GoogLeNet where 4 are
// enough. Paths that follow one another may share a lane at no cost in waits, and
// dense.ChainPartition finds the fewest lanes at that number of waits. Its table has a bit for each
// pair of an operation that alternating paths reach and any other, 2^27 at most: enough for
// 11,585 operations in any case, and for more in most. Beyond, it joins the paths
// of the one matching found: up to 8192 of them in the best way for these, like the code that the
// authors released, and more by a near linear search. The waits stay minimal either way: two
// paths whose ends a reduced edge joined would have made the matching greater.
//
// That code waits for every traced parent on another stream. Here waits come
// from syncs, so the minimum is what a replay pays: on NASNet-A mobile 244
// instead of 272.
type nimble struct {
	joinBits    int // the greatest table for joining chains exactly
	mergeChains int // the most chains to merge by a matching beyond that
}

func (n nimble) assign(g *ir.Graph, _ *Options) (assignment, error) {
	d := dagOf(g)
	if g.Phase < ir.Reduced { // the proof needs a reduced graph, whatever passes ran
		d = d.Without(d.Reduce().Redundant)
	}
	return onLanes(g, n.chains(d)), nil
}

// onLanes gives each chain a lane.
func onLanes(g *ir.Graph, chains []dense.Chain) assignment {
	lane := make([]ir.LaneID, g.Len())
	for i, c := range chains {
		for _, v := range c {
			lane[v] = ir.LaneID(i)
		}
	}
	return assignment{lane: lane}
}

// chains partitions a reduced graph into the lanes.
func (n nimble) chains(d *dense.Graph) []dense.Chain {
	return dense.ChainPartition(d, n.joinBits, n.mergeChains)
}
