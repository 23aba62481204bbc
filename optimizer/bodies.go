package optimizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// bodies holds the plans of the bodies of loops and branches.
//
// Each body is planned as a program of its own, before the graph around it, in which a loop is one operation.
// Passes copy operations and keep their Control, so that the plans are found by it.
type bodies map[*ir.Control][]*ir.Schedule

// ofBodies lists the passes that also run for bodies. The others leave out operations whose results an outer
// graph may read, repeat the program, place its buffers, or are for streams alone.
var ofBodies = []string{"merge", "hazards", "reduce", "coarsen", "assign", "syncs", "fold", "order", "priorities", "predict"}

// substituting lists the passes that replace buffers of operations, which they cannot do in bodies.
var substituting = []string{"rotate", "rename"}

// planBodies plans the bodies of all loops and branches of g, the innermost first. It returns g with the
// planned bodies. The modules that merge adds for a body are passed on to the next one, and at last to all.
func planBodies(g *ir.Graph, selected []pass, opts *Options) (*ir.Graph, bodies, error) {
	if !has(g, isControl) {
		return g, nil, nil
	}
	for _, p := range selected {
		if slices.Contains(substituting, p.name) {
			return nil, nil, fmt.Errorf("the pass %s cannot replace buffers in the bodies of loops and branches: leave it out", p.name)
		}
	}
	inner := opts.ofBodies()
	h := *g
	h.Ops = slices.Clone(g.Ops)
	all := bodies{}
	for v := range h.Ops {
		op := &h.Ops[v]
		if op.Control == nil {
			continue
		}
		c := *op.Control
		c.Bodies = slices.Clone(c.Bodies)
		var plans []*ir.Schedule
		for i, body := range c.Bodies {
			plan, err := Plan(around(&h, body), inner)
			if err != nil {
				return nil, nil, fmt.Errorf("the body of %v %v: %w", ir.OpID(v), op.Kind, err)
			}
			c.Bodies[i] = plan.Graph
			h.Modules, h.Generated = plan.Graph.Modules, plan.Graph.Generated
			plans = append(plans, plan.Schedule)
		}
		op.Control = &c
		all[&c] = plans
	}
	shareModules(&h)
	return &h, all, nil
}

// around returns a copy of a body, and of the bodies in it, with the modules of g.
func around(g, body *ir.Graph) *ir.Graph {
	if body == nil {
		return nil
	}
	h := *body
	h.Modules, h.Generated = g.Modules, g.Generated
	h.Ops = slices.Clone(body.Ops)
	for v := range h.Ops {
		if c := h.Ops[v].Control; c != nil {
			own := *c
			own.Bodies = slices.Clone(c.Bodies)
			for i := range own.Bodies {
				own.Bodies[i] = around(g, own.Bodies[i])
			}
			h.Ops[v].Control = &own
		}
	}
	return &h
}

// shareModules gives the bodies in g, which must be copies that planBodies made, the modules of g.
func shareModules(g *ir.Graph) {
	for v := range g.Ops {
		if c := g.Ops[v].Control; c != nil {
			for _, body := range c.Bodies {
				body.Modules, body.Generated = g.Modules, g.Generated
				shareModules(body)
			}
		}
	}
}

// ofBodies returns the options for bodies: those of a graph, with costs from shapes, as measured costs are by
// operation of the program. The device runs a body without the host, so that its launch takes no time.
func (o *Options) ofBodies() Options {
	inner := Options{Strategy: o.Strategy, Verify: o.Verify, Profile: o.Profile, Iterations: o.Iterations, Frozen: o.Frozen, inBody: true, tried: o.tried}
	if p, err := o.profile(); err == nil {
		launched := *p
		launched.Host.GraphLaunch, launched.Host.GraphNode, launched.Host.GraphBranch, launched.SubmitLatency = 0, 0, 0, 0
		inner.Custom = &launched
		if m, estimated := o.Costs.(*declaredCosts); estimated && m.undeclared {
			inner.Costs = newModelledCosts(p)
		}
	}
	if o.Passes != nil {
		inner.Passes = passesOfBodies(o.Passes)
	}
	inner.Also = passesOfBodies(o.Also)
	return inner
}

// passesOfBodies leaves out the passes that do not run for bodies.
func passesOfBodies(texts []string) []string {
	kept := []string{}
	for _, text := range texts {
		if name, _, _ := strings.Cut(text, "("); slices.Contains(ofBodies, name) {
			kept = append(kept, text)
		}
	}
	return kept
}

// schedules returns the plans by operation of g.
func (b bodies) schedules(g *ir.Graph) map[ir.OpID][]*ir.Schedule {
	of := map[ir.OpID][]*ir.Schedule{}
	for v := range g.Ops {
		if c := g.Ops[v].Control; c != nil {
			of[ir.OpID(v)] = b[c]
		}
	}
	return of
}

// times returns the predicted times of all bodies by operation.
func (b bodies) times() bodyTimes {
	times := bodyTimes{}
	for c, plans := range b {
		for _, s := range plans {
			took := int64(0)
			if s != nil {
				took = s.Predicted
			}
			times[c] = append(times[c], model.Time(min(took, beyondHorizon))*model.Nanosecond)
		}
	}
	return times
}

// bounds returns lower bounds of the times of all bodies of g, in which the pass hazards has run.
func (o *Options) bounds(g *ir.Graph) (bodyTimes, error) {
	var times bodyTimes
	for v := range g.Ops {
		c := g.Ops[v].Control
		if c == nil {
			continue
		}
		for _, body := range c.Bodies {
			least, err := lowerBound(body, o.ofBodies())
			if err != nil {
				return nil, fmt.Errorf("the body of %v %v: %w", ir.OpID(v), g.Ops[v].Kind, err)
			}
			if times == nil {
				times = bodyTimes{}
			}
			times[c] = append(times[c], model.Time(least)*model.Nanosecond)
		}
	}
	return times, nil
}

// bodyTimes holds how long the device takes for each body of a loop or a branch.
type bodyTimes map[*ir.Control][]model.Time

// controlCosts adds the costs of loops and branches to a cost model:
//
//	loop    decide { gap, body, edge, until, edge, decide } ...   after begin and an edge in a body
//	branch  choose, edge, decide, gap, body
//
// The simulated device runs conditional nodes in these steps. until, choose and begin are kernels of one thread.
type controlCosts struct {
	CostModel
	profile    *model.Profile
	times      bodyTimes
	iterations int64 // of every loop; 0 for its limit
	inBody     bool
	kernel     model.Time // of one thread
}

func newControlCosts(m CostModel, p *model.Profile, times bodyTimes, o *Options) controlCosts {
	one := model.Demand{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: guessedBlockCycles}
	return controlCosts{m, p, times, o.Iterations, o.inBody, took(p, one)}
}

// Demand of a loop without a declared cost is that of the assumed iterations, and of a branch that of the
// longer body.
func (m controlCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	op := &g.Ops[v]
	if op.Control == nil || op.Cost >= 0 && !undeclared(m.CostModel) {
		return m.CostModel.Demand(g, v)
	}
	return model.Demand{Kind: model.Fixed, Duration: m.duration(op.Kind, op.Control)}
}

func undeclared(m CostModel) bool {
	d, ok := m.(*declaredCosts)
	return ok && d.undeclared
}

func (m controlCosts) duration(kind ir.Kind, c *ir.Control) model.Time {
	p := m.profile
	body := p.GraphBodyGap + slices.Max(append(slices.Clone(m.times[c]), 0))
	if kind == ir.KindBranch {
		return m.kernel + p.GraphEdgeGap + p.ConditionLatency + body
	}
	n := rounds(c, m.iterations)
	once := body + 2*p.GraphEdgeGap + m.kernel + p.ConditionLatency
	all := p.ConditionLatency + model.Time(min(n, horizon/int64(once)))*once
	if m.inBody {
		all += m.kernel + p.GraphEdgeGap
	}
	return all
}

// rounds returns how many iterations a loop has if its condition holds after the assumed number, or 0 for never.
func rounds(c *ir.Control, assumed int64) int64 {
	if assumed == 0 || assumed >= c.Limit {
		return c.Limit
	}
	return min(c.Limit, (assumed+c.Every-1)/c.Every*c.Every)
}

// assumed describes what predictions assume of the loops of g, for Result.Costs.
func (o *Options) assumed(g *ir.Graph) string {
	switch {
	case o.bodies == nil || !loops(g):
		return ""
	case o.Iterations == 0:
		return "; loops run to their limits"
	}
	return fmt.Sprintf("; loops run %d iterations, or to the next check", o.Iterations)
}

// loops reports whether g or a body has a loop without a declared cost.
func loops(g *ir.Graph) bool {
	return slices.ContainsFunc(g.Ops, func(op ir.Op) bool {
		return op.Control != nil && op.Cost < 0 && (op.Kind == ir.KindLoop || slices.ContainsFunc(op.Control.Bodies, loops))
	})
}

// isControl reports whether operations of the kind hold bodies.
func isControl(k ir.Kind) bool { return k == ir.KindLoop || k == ir.KindBranch }
