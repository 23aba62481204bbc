package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// nimble is the stream assignment of Kwon, Yu, Jeong and Chun, "Nimble:
// Lightweight and Parallel GPU Task Scheduling for Deep Learning", NeurIPS 2020:
// operations that no path orders never share a lane, and among all such
// assignments this one needs the fewest waits.
//
//	reduced graph           left to right, matched ═    lanes
//
//	    ┌► 1 ┐              0 ═ 1   0 ─ 2               0: 0 1 3
//	0 ──┤    ├► 3    ==>    1 ═ 3   2 ─ 3        ==>    1: 2
//	    └► 2 ┘                                          waits: 2 after 0, 3 after 2
//
// A lane of such an assignment is a chain. A reduced edge within a lane joins
// neighbours, because an operation between its ends would imply it. So the edges that
// need no wait form a matching between tails and heads, and a maximum matching M
// leaves the minimum number of waits, |E'| - |M|.
//
// The matching alone gives one lane per path, 28 on GoogLeNet where 4 are enough.
// Paths that follow one another may share a lane without further waits, and
// dense.ChainPartition finds the fewest lanes for that number of waits. Its table has
// a bit for each pair of an operation reached by alternating paths and any other
// operation, at most 2^27: sufficient for 11,585 operations in any case, and for more
// in most cases. For larger graphs it merges the paths of the one matching found: up to
// 8192 paths optimally for that matching, as the authors' code does, and more by a
// near-linear search. The number of waits stays minimal either way, since two paths whose
// ends a reduced edge joined would contradict the maximality of the matching.
//
// The authors' code waits for every traced parent on another stream. Here the pass syncs
// derives the waits, so that a replay has the minimum: on NASNet-A mobile 244 instead of
// 272.
type nimble struct {
	joinBits    int // largest size of the table for joining chains exactly, in bits
	mergeChains int // largest number of chains to merge by a matching if the table would be larger
}

func (n nimble) assign(g *ir.Graph, _ *Options) (assignment, error) {
	d := dagOf(g)
	if g.Phase < ir.Reduced { // the proof requires a reduced graph, whichever passes ran
		d = d.Without(d.Reduce().Redundant)
	}
	return onLanes(g, n.chains(d)), nil
}

// onLanes returns the assignment with one lane for each chain.
func onLanes(g *ir.Graph, chains []dense.Chain) assignment {
	lane := make([]ir.LaneID, g.Len())
	for i, c := range chains {
		for _, v := range c {
			lane[v] = ir.LaneID(i)
		}
	}
	return assignment{lane: lane}
}

// chains partitions a reduced graph into chains, one for each lane.
func (n nimble) chains(d *dense.Graph) []dense.Chain {
	return dense.ChainPartition(d, n.joinBits, n.mergeChains)
}
