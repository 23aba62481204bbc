package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// boundedNimble is nimble on at most k lanes. The paths of its maximum matching stay
// whole; as many as run at a time share k lanes, where each goes to the one that is free
// first, in the order of the times at which they can start.
//
//	paths of the matching          two lanes, by time
//
//	0 1 2 │ 3 4 │ 5 6 7     ==>    lane 0 ▕ 0 1 2 │ 5 6 7 ▏
//	                               lane 1 ▕ 3 4 ▏
//
// So there are never more waits than nimble's |E'| - |M|: an edge within a path needs
// none, and order along a lane only ever implies more of the others. Lanes of unrelated
// work are what must be given up when the graph is wider than k.
type boundedNimble struct {
	nimble
	lanes int
}

// nimbleOn is nimble on at most k lanes, 0 for any number.
func nimbleOn(k int) strategy {
	n := nimble{maxJoinBits, maxMergedChains}
	if k == 0 {
		return n
	}
	return boundedNimble{n, k}
}

func (s boundedNimble) assign(g *ir.Graph, opts *Options) (assignment, error) {
	g, err := reduce(g)
	if err != nil {
		return assignment{}, err
	}
	d := dagOf(g)
	if chains := s.chains(d); len(chains) <= s.lanes {
		return onLanes(g, chains), nil
	}
	p, costs, err := opts.model(g)
	if err != nil {
		return assignment{}, err
	}
	took := alone(g, p, costs)
	start := earliest(g, took, p.GraphEdgeGap)
	return s.share(g, chainsOf(maximumMatching(d)), start, took), nil
}

// share puts the paths on the lanes. Operations are submitted by the times that follow
// from that, as far as dependencies allow.
func (s boundedNimble) share(g *ir.Graph, paths []chain, start, took []des.Time) assignment {
	slices.SortStableFunc(paths, func(a, b chain) int { return cmp.Compare(start[a.head()], start[b.head()]) })
	var free queue[des.Time] // lanes by when they are
	for l := range s.lanes {
		free.push(0, int32(l))
	}
	lane := make([]ir.LaneID, g.Len())
	for _, c := range paths {
		next := free.pop()
		late := max(0, next.key-start[c.head()])
		for _, v := range c {
			lane[v] = ir.LaneID(next.id)
			start[v] += late
		}
		free.push(start[c.tail()]+took[c.tail()], next.id)
	}
	return assignment{lane: lane, order: orderBy(g, start)}
}
