package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/heap"
	"github.com/reprise-gpu/reprise/ir"
)

// boundedNimble is nimble on at most k lanes. It computes three plans and takes the one with the
// shortest predicted replay; ties go to the first.
//
// The first plan is nimble's if that uses at most k lanes. Otherwise the paths of nimble's maximum
// matching are distributed whole: in the order of their earliest start times, each path goes to the
// lane that becomes free first:
//
//	paths of the matching          two lanes, by time
//
//	0 1 2 │ 3 4 │ 5 6 7     ==>    lane 0 ▕ 0 1 2 │ 5 6 7 ▏
//	                               lane 1 ▕ 3 4 ▏
//
// This plan has at most nimble's |E'| - |M| waits: an edge within a path needs no wait, and the
// order along a lane can only imply further edges. But it is slow if many paths run side by side
// from the start to the end, as in a stencil with more tiles than lanes: whole paths on one lane
// delay the paths of other lanes that depend on them. Replays were up to six times as long as
// round-robin's.
//
// The second plan is that of list scheduling, which interleaves paths on a lane, and the third is
// that of round-robin. The final plans are compared, after all passes, so that nimble(k) is never
// predicted to take longer than roundrobin(k) or listsched(k).
type boundedNimble struct {
	nimble
	lanes int
}

// nimbleOn returns nimble on at most k lanes, or without a limit if k is 0.
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

// quickest returns the assignment whose final plan has the shortest predicted replay; ties go to the first.
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

// wholePaths computes the first plan of boundedNimble.
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

// share distributes the paths to lanes. Operations are submitted in the order of the resulting start
// times, as far as dependencies allow.
func (s wholePaths) share(g *ir.Graph, paths []dense.Chain, start, took []model.Time) assignment {
	slices.SortStableFunc(paths, func(a, b dense.Chain) int { return cmp.Compare(start[a.Head()], start[b.Head()]) })
	var free heap.Heap[byTime] // lanes by the time at which they become free
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
