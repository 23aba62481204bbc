package optimizer

import "github.com/reprise-gpu/reprise/ir"

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
// enough. Like the code the authors released, and unlike the paper, a second
// matching then joins paths that follow one another. It never joins the two ends
// of a reduced edge, since the first matching would have grown by it, so the
// number of waits stays. Unlike that code, waits are for reduced edges only; it
// waits for every traced parent on another stream.
type nimble struct{}

func (nimble) assign(g *ir.Graph, _ *Options) (assignment, error) {
	d := dagOf(g)
	if g.Phase < ir.Reduced { // the proof needs a reduced graph, whatever passes ran
		d = d.withoutEdges(d.redundantEdges())
	}
	m := maximumMatching(d)
	joined := joinChains(d, m, maxJoinBits)
	chains := chainsOf(m)
	if !joined {
		chains = mergeChains(d, chains, maxMergedChains)
	}
	lane := make([]ir.LaneID, g.Len())
	for i, c := range chains {
		for _, v := range c {
			lane[v] = ir.LaneID(i)
		}
	}
	return assignment{lane: lane}, nil
}
