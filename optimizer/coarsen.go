package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// coarsen contracts chains of operations into grains before the strategy runs. Within a chain,
// where nothing else begins or ends, there is nothing to decide:
//
//	a ─► b ─► c ─┐              abc ─┐
//	             ├─► g    ==>        ├─► g        four grains; the seven operations get the lanes
//	d ─► e ─► f ─┘              def ─┘            of their grains
//
// This contraction is the first step of partitioning DAGs (Herrmann, Özkaya, Uçar, Kaya and
// Çatalyürek, "Multilevel Algorithms for Acyclic Partitioning of Directed Acyclic Graphs", SIAM J.
// Sci. Comput. 2019), restricted to the case that loses nothing. Packing grains further, which trades
// concurrency for fewer waits (Sarkar, "Partitioning and Scheduling Parallel Programs for
// Multiprocessors", 1989), is left to the strategies, which compare the costs of waits.
//
// Two operations are contracted if each is the other's only successor or predecessor. Hence the
// graph of grains has a path exactly where the operations have one, and its width, its longest
// path and its work are equal to those of the operations. The guarantees of strategies carry over:
// nimble has as many lanes and waits as without grains (its matching contains the edges within
// chains in any case), mincover as many lanes, and the bound of listsched is the same. Waits are
// computed for operations, so that nothing waits for a whole grain.
//
// A grain is predicted as one kernel with the total time of its operations and the mean of their
// multiprocessors. auto chooses by these predictions. Its plan is then predicted for the operations
// and compared with serial.
func coarsen(s *ir.Schedule, opts *Options) error {
	opts.grains = grainsOf(s.Graph)
	return nil
}

// grains is a graph, its contraction and the mapping between the two.
type grains struct {
	fine, coarse *ir.Graph
	ops          []ir.OpID // the operations of grain 0, then those of grain 1, and so on, each in program order
	start        []int32   // by grain: the index in ops where its operations begin; then len(ops)
}

// of returns the operations of a grain.
func (c *grains) of(grain ir.OpID) []ir.OpID { return c.ops[c.start[grain]:c.start[grain+1]] }

// grainsOf contracts the chains of g, in O(V+E). It returns nil if there are none. Grains are in
// the order of their first operations. This order is topological, because edges enter a chain only
// at its first operation and leave it only at its last.
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

// chained returns the operation u whose chain v continues, if there is one. Only operations that use
// multiprocessors and device memory alone are chained: the passes move transfers and host calls
// between lanes one by one.
func chained(g *ir.Graph, v ir.OpID) (u ir.OpID, is bool) {
	deps := g.DepsInto(v)
	if len(deps) != 1 {
		return -1, false
	}
	u = deps[0].From
	return u, len(g.Succs(u)) == 1 && onMultiprocessors(g, u) && onMultiprocessors(g, v)
}

// onMultiprocessors reports whether an operation uses multiprocessors and device memory alone.
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

// contract builds the graph of n grains. at is the grain of each operation.
func (c *grains) contract(at []ir.OpID, n int) {
	h := *c.fine
	h.Ops, h.Origin, h.Merged, h.Sliced, h.Made = make([]ir.Op, n), nil, nil, nil, 0
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

// grained applies a strategy to grains and gives each operation the lane of its grain. Without an
// order of the strategy, operations are submitted in program order, which may interleave grains of
// a lane. An order of the strategy is expanded grain by grain.
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
	with.Passes, with.Also = []string{"syncs", "predict"}, nil // auto uses only the lanes of a plan of grains
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

// gap is the time between two successive operations of a chain on the device.
func (o *Options) gap(p *model.Profile) model.Time {
	if o.Streams {
		return p.StreamGap
	}
	return p.GraphEdgeGap
}

// expanded returns the assignment of operations for one of grains.
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

// guarded returns a, or serial's assignment if that is predicted to be quicker.
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

// grainCosts is the cost model of grains. The times of operations are computed on the first query,
// since few strategies use costs.
type grainCosts struct {
	*grains
	profile *model.Profile
	fine    CostModel
	gap     model.Time   // between two operations of a chain
	took    []model.Time // by operation: its time alone on the device
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
	run := max(0, total-m.profile.KernelRamp) // Demand includes one ramp, and each operation's time does too
	return model.Demand{
		Kind: model.Kernel, PerSM: 1, Bytes: bytes,
		Blocks:      max(1, held/float64(total)*float64(m.profile.SMs)),
		BlockCycles: float64(run) / float64(model.Microsecond) * float64(m.profile.ClockMHz),
	}
}
