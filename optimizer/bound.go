package optimizer

import (
	"slices"

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
// The graph must be past the pass hazards. Options say for which device and at what
// costs; nothing else of them counts.
func LowerBound(g *ir.Graph, opts Options) (int64, error) {
	p, costs, err := opts.model(g)
	if err != nil {
		return 0, err
	}
	b := bound{graph: g, profile: p, costs: costs, took: alone(g, p, costs), ahead: aheadOfGraph(g)}
	least := b.nodes()
	if slices.Contains(b.ahead, true) {
		least = max(least, b.all())
	}
	return int64(least / des.Nanosecond), nil
}

// bound is what a lower bound is made of.
type bound struct {
	graph   *ir.Graph
	profile *des.Profile
	costs   CostModel
	took    []des.Time // by operation: alone
	ahead   []bool     // by operation: enqueued before the graph is launched
}

// nodes bounds the nodes of the graph, which start when it has been launched.
func (b *bound) nodes() des.Time {
	h := &b.profile.Host
	n, aheadOf, total := des.Time(0), des.Time(0), des.Time(0)
	for v, ahead := range b.ahead {
		if ahead {
			aheadOf++
			continue
		}
		n++
		total += b.took[v]
	}
	launch := aheadOf*h.Memcpy + h.GraphLaunch + b.profile.SubmitLatency + n*h.GraphNode
	return launch + b.chained(n, total, b.longest(func(v ir.OpID) bool { return !b.ahead[v] }))
}

// chained is the least that n operations of a total time take in chains of which every one
// but the first costs the launch a branch, and no less than least.
func (b *bound) chained(n, total, least des.Time) des.Time {
	best := des.Time(-1)
	for chains := des.Time(1); ; chains++ {
		runs := (total + (n-chains)*b.profile.GraphEdgeGap) / chains
		took := (chains-1)*b.profile.Host.GraphBranch + max(least, runs)
		if best < 0 || took < best {
			best = took
		}
		if runs <= least || chains >= n { // from here on it only grows
			return best
		}
	}
}

// all bounds all operations, of which the first may start when its call has returned.
func (b *bound) all() des.Time {
	return b.profile.Host.Memcpy + b.profile.SubmitLatency + b.longest(func(ir.OpID) bool { return true })
}

// longest is the longer of the critical path and of what the busiest engine takes for the
// operations that count.
func (b *bound) longest(counts func(ir.OpID) bool) des.Time {
	busy := des.NewBusy(b.profile)
	ends := make([]des.Time, b.graph.Len())
	critical := des.Time(0)
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
	return max(critical, busy.Most())
}
