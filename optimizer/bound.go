package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// lowerBound returns a time, in nanoseconds, that no schedule of g is predicted to undercut
// as a graph: the launch of all operations, plus the longest of
//
//	the critical path    each operation alone on the device, with a gap for each edge
//	work ÷ capacity      the busiest of multiprocessors, memory, links and copy engines
//	time ÷ chains        all operations end to end, in c parallel chains
//
// The last term applies to wide graphs of short operations. Each chain but the first makes
// the launch dearer by a branch, so that more chains save time on the device and
// cost time on the host. The bound is minimized over c.
//
// An empty graph has the bound 0. The pass hazards must have run on the graph. Of the options,
// only the device, the costs and the pass priorities count: with priorities, kernels may
// share a device that one of them would fill. The error reports bad options.
func lowerBound(g *ir.Graph, opts Options) (int64, error) {
	if err := opts.checkProfile(); err != nil {
		return 0, err
	}
	if g.Len() == 0 {
		return 0, nil
	}
	var err error
	if opts.times, err = opts.bounds(g); err != nil {
		return 0, err
	}
	b, err := newBound(g, &opts)
	if err != nil {
		return 0, err
	}
	least, _ := b.chained()
	if slices.Contains(b.ahead, true) {
		least = max(least, b.all())
	}
	return int64(least / model.Nanosecond), nil
}

// bound holds the terms of a lower bound.
type bound struct {
	graph   *ir.Graph
	profile *model.Profile
	costs   CostModel
	took    []model.Time // by operation: its time alone on the device
	ahead   []bool       // by operation: whether it is enqueued before the graph is launched
	ranked  bool         // whether kernels may have priorities
}

func newBound(g *ir.Graph, opts *Options) (*bound, error) {
	p, costs, err := opts.model(g)
	if err != nil {
		return nil, err
	}
	ranked := slices.Contains(slices.Concat(opts.Passes, opts.Also), "priorities")
	return &bound{graph: g, profile: p, costs: costs, took: alone(g, p, costs), ahead: aheadOfGraph(g), ranked: ranked}, nil
}

// chained minimizes launch time plus device time over the number of chains, where every chain but the first
// costs the launch a branch. It returns the minimum and the number of chains. The search ends where the device
// time no longer falls.
func (b *bound) chained() (least model.Time, chains int) {
	h := &b.profile.Host
	n, ahead, total := model.Time(0), model.Time(0), model.Time(0)
	for v, is := range b.ahead {
		if is {
			ahead++
			continue
		}
		n++
		total += b.took[v]
	}
	launch := ahead*h.Memcpy + h.GraphLaunch + b.profile.SubmitLatency + n*h.GraphNode
	longest := b.longest(func(v ir.OpID) bool { return !b.ahead[v] })
	for c := model.Time(1); ; c++ {
		runs := (total + (n-c)*b.profile.GraphEdgeGap) / c
		took := launch + (c-1)*h.GraphBranch + max(longest, runs)
		if chains == 0 || took < least {
			least, chains = took, int(c)
		}
		if runs <= longest || c >= n { // the sum only grows from here on
			return least, chains
		}
	}
}

// all is a bound for programs with operations ahead of the graph: the first operation starts when its call has
// returned.
func (b *bound) all() model.Time {
	return b.profile.Host.Memcpy + b.profile.SubmitLatency + b.longest(func(ir.OpID) bool { return true })
}

// longest returns the longer of the critical path and the time of the busiest engine, over the operations for which
// counts is true.
func (b *bound) longest(counts func(ir.OpID) bool) model.Time {
	busy := des.NewBusy(b.profile)
	ends := make([]model.Time, b.graph.Len())
	critical := model.Time(0)
	for i := range ends {
		v := ir.OpID(i)
		if !counts(v) {
			continue
		}
		for _, d := range b.graph.DepsInto(v) {
			after := ends[d.From]
			if !b.ahead[d.From] { // operations ahead of the graph have other gaps, which are not counted
				after += b.profile.GraphEdgeGap
			}
			ends[v] = max(ends[v], after)
		}
		busy.Add(b.costs.Demand(b.graph, v))
		ends[v] += b.took[v]
		critical = max(critical, ends[v])
	}
	if !b.ranked {
		critical = max(critical, busy.Filled())
	}
	return max(critical, busy.Most())
}
