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
// Each body is planned as a program of its own, before the graph around it, in which a loop is one operation. Passes copy
// operations and keep their Control, so that the plans are found by it.
type bodies map[*ir.Control][]*ir.Schedule

// ofBodies lists the passes that also run for bodies. The others leave out operations whose results an outer graph may
// read, repeat the program, place its buffers, or are for streams alone.
var ofBodies = []string{"hazards", "reduce", "coarsen", "assign", "syncs", "fold", "order", "priorities", "predict"}

// substituting lists the passes that replace buffers of operations, which they cannot do in bodies.
var substituting = []string{"rotate", "rename"}

// planBodies plans the bodies of all loops and branches of g, the innermost first. It returns g with the planned bodies.
func planBodies(g *ir.Graph, selected []pass, opts *Options) (*ir.Graph, bodies, error) {
	if !slices.ContainsFunc(g.Ops, func(op ir.Op) bool { return op.Control != nil }) {
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
			plan, err := Plan(body, inner)
			if err != nil {
				return nil, nil, fmt.Errorf("the body of %v %v: %w", ir.OpID(v), op.Kind, err)
			}
			c.Bodies[i] = plan.Graph
			plans = append(plans, plan.Schedule)
		}
		op.Control = &c
		all[&c] = plans
	}
	return &h, all, nil
}

// ofBodies returns the options for bodies: those of a graph, with costs from shapes, as measured costs are by
// operation of the program.
func (o *Options) ofBodies() Options {
	inner := Options{Strategy: o.Strategy, Verify: o.Verify, Profile: o.Profile, Custom: o.Custom, tried: o.tried}
	if p, err := o.profile(); err == nil {
		inner.Custom = p
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

// controlCosts adds the costs of loops and branches to a cost model.
type controlCosts struct {
	CostModel
	bodies bodies
}

// Demand of a loop without a declared cost is the predicted time of the iterations up to its first check, as no more is
// certain. That of a branch is the longer of its bodies.
func (m controlCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	op := &g.Ops[v]
	if op.Control == nil || op.Cost >= 0 {
		return m.CostModel.Demand(g, v)
	}
	var longest int64
	for _, s := range m.bodies[op.Control] {
		if s != nil {
			longest = max(longest, s.Predicted)
		}
	}
	if longest == 0 {
		return model.Demand{Kind: model.Marker}
	}
	if op.Kind == ir.KindLoop {
		longest *= min(op.Control.Limit, op.Control.Every, beyondHorizon/longest)
	}
	return model.Demand{Kind: model.Fixed, Duration: model.Time(longest) * model.Nanosecond}
}
