package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// coarsen has the strategy plan chains for operations: where one thing follows another and
// nothing else begins or ends between them, there is nothing to decide.
//
//	a ─► b ─► c ─┐              abc ─┐
//	             ├─► g    ==>        ├─► g        four grains, and seven operations on the lanes
//	d ─► e ─► f ─┘              def ─┘            of their grains
//
// It is the contraction that partitioning of DAGs begins with (Herrmann, Özkaya, Uçar, Kaya and
// Çatalyürek, "Multilevel Algorithms for Acyclic Partitioning of Directed Acyclic Graphs", SIAM J.
// Sci. Comput. 2019), kept to where it loses nothing; packing grains until concurrency gives way to
// fewer waits (Sarkar, "Partitioning and Scheduling Parallel Programs for Multiprocessors", 1989)
// is left to the strategies, which know what waits cost. A chain is the only successor of its only
// predecessor, so that the graph of grains has a path exactly where operations of theirs have
// one, and its width, its longest path and its work are those of the operations. Every promise
// of a strategy in these terms holds: nimble has as many lanes and waits as without (it matches
// the two ends of such an edge with each other, whatever else it does), mincover as many lanes,
// and the bound of listsched is the same. The waits are found for the operations, so nothing waits
// for more of a grain than it needs.
//
// A grain is predicted as one kernel that takes the time of all and the mean of their
// multiprocessors. auto chooses by that; then its plan is predicted as it is, and that it is no slower
// than serial holds as without.
func coarsen(s *ir.Schedule, opts *Options) error {
	opts.grains = grainsOf(s.Graph)
	return nil
}

// grains are the operations of a graph, put together.
type grains struct {
	fine, coarse *ir.Graph
	ops          []ir.OpID // of grain after grain, in program order
	start        []int32   // by grain: where its operations begin; and the end
}

func (c *grains) of(grain ir.OpID) []ir.OpID { return c.ops[c.start[grain]:c.start[grain+1]] }

// grainsOf contracts chains; nil where there are none. Grains are in the order of their
// first operations, which is topological: what enters a chain enters its first operation, and
// what leaves it its last.
func grainsOf(g *ir.Graph) *grains {
	c := &grains{fine: g, ops: make([]ir.OpID, 0, g.Len()), start: []int32{0}}
	at := make([]ir.OpID, g.Len()) // by operation: its grain
	for v := range g.Ops {
		if _, inside := chained(g, ir.OpID(v)); inside {
			continue
		}
		grain := ir.OpID(len(c.start) - 1)
		for u, more := ir.OpID(v), true; more; {
			c.ops, at[u] = append(c.ops, u), grain
			next := g.Succs(u)
			if more = len(next) == 1; more {
				_, more = chained(g, next[0])
				u = next[0]
			}
		}
		c.start = append(c.start, int32(len(c.ops)))
	}
	if n := len(c.start) - 1; n < g.Len() {
		c.contract(at, n)
		return c
	}
	return nil
}

// chained returns what v continues a chain behind, if it does. Operations stay by themselves
// unless they keep to multiprocessors and device memory: what uses a link or the host is moved
// between lanes for its own sake.
func chained(g *ir.Graph, v ir.OpID) (u ir.OpID, is bool) {
	deps := g.DepsInto(v)
	if len(deps) != 1 {
		return -1, false
	}
	u = deps[0].From
	return u, len(g.Succs(u)) == 1 && onMultiprocessors(g, u) && onMultiprocessors(g, v)
}

func onMultiprocessors(g *ir.Graph, v ir.OpID) bool {
	op := &g.Ops[v]
	switch op.Kind {
	case ir.KindLaunch, ir.KindMemset, ir.KindEmpty:
		return true
	case ir.KindCopy:
		return g.Buffers[op.Copy.Src.Buffer].Place == g.Buffers[op.Copy.Dst.Buffer].Place
	}
	return false
}

// contract makes the graph of n grains.
func (c *grains) contract(at []ir.OpID, n int) {
	h := *c.fine
	h.Ops, h.Origin, h.Made = make([]ir.Op, n), nil, 0
	var deps []ir.Dep
	for grain := range n {
		ops := c.of(ir.OpID(grain))
		h.Ops[grain] = c.fine.Ops[ops[0]]
		for _, d := range c.fine.DepsInto(ops[0]) {
			deps = append(deps, ir.Dep{From: at[d.From], To: ir.OpID(grain), Hazard: ir.Ordered})
		}
	}
	coarse, err := h.WithDeps(c.fine.Phase, deps, nil)
	if err != nil {
		panic("BUG: grains are not in topological order: " + err.Error())
	}
	c.coarse = coarse
}

// grained is a strategy that places grains, and operations with them. In program order operations
// of different grains may be mixed on a lane, and so they are without grains; an order of the
// strategy's own is one of whole grains.
type grained struct {
	*grains
	strategy
}

func (c grained) assign(_ *ir.Graph, opts *Options) (assignment, error) {
	with := *opts
	p, costs, err := opts.model(c.fine)
	if err != nil {
		return assignment{}, err
	}
	with.grains, with.Custom, with.Costs = nil, p, &grainCosts{grains: c.grains, profile: p, fine: costs, gap: opts.gap(p)}
	with.Passes, with.Also = []string{"syncs", "predict"}, nil // auto chooses lanes: what else is done to grains is not kept
	coarse, err := c.strategy.assign(c.coarse, &with)
	if err != nil {
		return assignment{}, err
	}
	a := c.expanded(coarse)
	if _, guards := c.strategy.(auto); guards {
		return c.guarded(a, opts)
	}
	return a, nil
}

// gap is what the device takes from one operation of a chain to the next.
func (o *Options) gap(p *model.Profile) model.Time {
	if o.Streams {
		return p.StreamGap
	}
	return p.GraphEdgeGap
}

// expanded is the assignment of operations that one of grains stands for.
func (c *grains) expanded(coarse assignment) assignment {
	a := assignment{lane: make([]ir.LaneID, c.fine.Len()), by: coarse.by}
	for grain, lane := range coarse.lane {
		for _, v := range c.of(ir.OpID(grain)) {
			a.lane[v] = lane
		}
	}
	if coarse.order == nil {
		return a
	}
	a.order = make([]ir.OpID, 0, c.fine.Len())
	for _, grain := range coarse.order {
		a.order = append(a.order, c.of(grain)...)
	}
	return a
}

// guarded is a, unless one lane is predicted to be quicker.
func (c *grains) guarded(a assignment, opts *Options) (assignment, error) {
	s := &ir.Schedule{Graph: c.fine}
	if place(s, a.by, a); s.Lanes <= 1 {
		return a, nil
	}
	choice := choice{graph: c.fine, opts: opts, tried: []trial{{assignment: a}}}
	if err := choice.try("serial"); err != nil {
		return a, err
	}
	err := choice.complete()
	return choice.best(maxLanes).assignment, err
}

// grainCosts is the cost model of grains. It asks what operations cost when it is asked first,
// which few strategies do.
type grainCosts struct {
	*grains
	profile *model.Profile
	fine    CostModel
	gap     model.Time   // from one operation of a chain to the next
	took    []model.Time // by operation: alone
}

func (m *grainCosts) Demand(_ *ir.Graph, grain ir.OpID) model.Demand {
	ops := m.of(grain)
	if len(ops) == 1 {
		return m.fine.Demand(m.grains.fine, ops[0])
	}
	if m.took == nil {
		m.took = alone(m.grains.fine, m.profile, m.fine)
	}
	total, bytes, held := model.Time(len(ops)-1)*m.gap, 0.0, 0.0
	for _, v := range ops {
		d := m.fine.Demand(m.grains.fine, v)
		total += m.took[v]
		held += float64(m.took[v]) * footprintOf(d, m.took[v], m.profile).share[multiprocessors]
		bytes += d.Bytes
	}
	if held == 0 {
		return model.Demand{Kind: model.Fixed, Duration: total}
	}
	run := max(0, total-m.profile.KernelRamp) // one of those that the operations have is added again
	return model.Demand{
		Kind: model.Kernel, PerSM: 1, Bytes: bytes,
		Blocks:      max(1, held/float64(total)*float64(m.profile.SMs)),
		BlockCycles: float64(run) / float64(model.Microsecond) * float64(m.profile.ClockMHz),
	}
}
