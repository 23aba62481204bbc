package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// LowerBound is a time, in nanoseconds, below which no schedule of g is predicted as a
// graph: what launching so many operations takes, and then the longest of
//
//	the critical path    each operation alone on the device, an edge between two
//	work ÷ capacity      the busiest of multiprocessors, memory, links and copy engines
//	time ÷ chains        all operations end to end, in as many chains as the launch pays for
//
// The last is what keeps the bound honest for wide graphs of short operations: a node that
// does not merely continue a chain is dearer to launch, so that chains side by side save
// time on the device and take it from the host. The bound is for the number that is best.
//
// Of no operations there is nothing to launch. The graph must be past the pass hazards. Options say for which device, at what
// costs, and whether there are priorities, which let kernels share a device that one would fill; nothing
// else of them counts.
func LowerBound(g *ir.Graph, opts Options) (int64, error) {
	if g == nil {
		return 0, absent.Nil("the graph")
	}
	if err := opts.checkProfile(); err != nil {
		return 0, err
	}
	if g.Len() == 0 {
		return 0, nil
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

// bound is what a lower bound is made of.
type bound struct {
	graph   *ir.Graph
	profile *model.Profile
	costs   CostModel
	took    []model.Time // by operation: alone
	ahead   []bool       // by operation: enqueued before the graph is launched
	ranked  bool         // some kernels may have priority
}

func newBound(g *ir.Graph, opts *Options) (*bound, error) {
	p, costs, err := opts.model(g)
	if err != nil {
		return nil, err
	}
	ranked := slices.Contains(slices.Concat(opts.Passes, opts.Also), "priorities")
	return &bound{graph: g, profile: p, costs: costs, took: alone(g, p, costs), ahead: aheadOfGraph(g), ranked: ranked}, nil
}

// chained is the least that the nodes take in chains of which every one but the first costs
// the launch a branch, and the number of chains that it takes for that.
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
		if runs <= longest || c >= n { // from here on it only grows
			return least, chains
		}
	}
}

// all bounds all operations, of which the first may start when its call has returned.
func (b *bound) all() model.Time {
	return b.profile.Host.Memcpy + b.profile.SubmitLatency + b.longest(func(ir.OpID) bool { return true })
}

// longest is the longer of the critical path and of what the busiest engine takes for the
// operations that count.
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
			if !b.ahead[d.From] { // what comes ahead has other gaps, which are left out
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
