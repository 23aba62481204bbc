package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/heap"
	"github.com/reprise-gpu/reprise/ir"
)

// boundedNimble is nimble on at most k lanes: of three plans the one whose replay is predicted to
// be the shortest, of equal ones the first.
//
// The first is nimble itself where its lanes are enough. Else the paths of its maximum matching
// stay whole; as many as run at a time share k lanes, where each goes to the one that is free
// first, in the order of the times at which they can start:
//
//	paths of the matching          two lanes, by time
//
//	0 1 2 │ 3 4 │ 5 6 7     ==>    lane 0 ▕ 0 1 2 │ 5 6 7 ▏
//	                               lane 1 ▕ 3 4 ▏
//
// This never has more waits than nimble's |E'| - |M|: an edge within a path needs
// none, and order along a lane only ever implies more of the others. But where many paths run
// side by side from the start to the end, as in a stencil of more tiles than lanes, a lane that takes
// whole paths waits for others, which wait for it: replays were up to six times as long as
// round-robin's.
//
// The second plan is list scheduling's, in which paths share a lane step by step, and the third is
// round-robin's. Predictions are of the plans that come out of all passes, so nimble(k) is
// never predicted to take longer than roundrobin(k) or listsched(k).
type boundedNimble struct {
	nimble
	lanes int
}

// nimbleOn is nimble on at most k lanes, 0 for any number.
func nimbleOn(k int) strategy {
	n := nimble{dense.MaxJoinBits, dense.MaxMergedChains}
	if k == 0 {
		return n
	}
	return boundedNimble{n, k}
}

func (s boundedNimble) assign(g *ir.Graph, opts *Options) (assignment, error) {
	return quickest(g, opts, wholePaths(s), listSched{s.lanes}, roundRobin{s.lanes})
}

// quickest is the assignment whose final plan is predicted to be the shortest, the first of equal ones.
func quickest(g *ir.Graph, opts *Options, by ...strategy) (best assignment, err error) {
	c := choice{graph: g, opts: opts}
	least := int64(-1)
	for _, one := range by {
		a, err := one.assign(g, opts)
		if err != nil {
			return best, err
		}
		s := &ir.Schedule{Graph: g}
		place(s, "", a)
		t := trial{assignment: a}
		if err := c.foresee(&t, s, opts, true); err != nil {
			return best, err
		}
		if least < 0 || t.took < least {
			least, best = t.took, a
		}
	}
	return best, nil
}

// wholePaths is the first of the plans.
type wholePaths boundedNimble

func (s wholePaths) assign(g *ir.Graph, opts *Options) (assignment, error) {
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
	return s.share(g, dense.MaximumMatching(d.Rows).Chains(), start, took), nil
}

// share puts the paths on the lanes. Operations are submitted by the times that follow
// from that, as far as dependencies allow.
func (s wholePaths) share(g *ir.Graph, paths []dense.Chain, start, took []model.Time) assignment {
	slices.SortStableFunc(paths, func(a, b dense.Chain) int { return cmp.Compare(start[a.Head()], start[b.Head()]) })
	var free heap.Heap[byTime] // lanes by when they are
	for l := range s.lanes {
		free.Push(byTime{Key: 0, ID: int32(l)})
	}
	lane := make([]ir.LaneID, g.Len())
	for _, c := range paths {
		next := free.Pop()
		late := max(0, next.Key-start[c.Head()])
		for _, v := range c {
			lane[v] = ir.LaneID(next.ID)
			start[v] += late
		}
		free.Push(byTime{Key: start[c.Tail()] + took[c.Tail()], ID: next.ID})
	}
	return assignment{lane: lane, order: orderBy(g, start)}
}
