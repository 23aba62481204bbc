package why

import (
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// WhatIf compares the plan with one of a program that lacks a dependency. Such a plan is wrong for the program as it is.
type WhatIf struct {
	Predicted float64 `json:"predicted_us"`
	Without   float64 `json:"without_us"`
	Lanes     int     `json:"lanes"` // of the other plan
	Waits     int     `json:"waits"`
}

// Gain returns by how much the other plan is predicted to be quicker, in us.
func (w *WhatIf) Gain() float64 { return w.Predicted - w.Without }

// without plans the program without the dependency of v on u.
func (p *Plan) without(u, v ir.OpID) (*WhatIf, error) {
	g, err := drop(p.result.Analyzed, u, v)
	if err != nil {
		return nil, err
	}
	r, err := optimizer.Plan(g, p.opts)
	if err != nil {
		return nil, err
	}
	return &WhatIf{us(p.result.Schedule.Predicted), us(r.Schedule.Predicted), r.Schedule.Lanes, r.Schedule.Syncs()}, nil
}

// drop returns an analyzed graph without the dependency of v on u. All other conflicts remain ordered: those that only this
// dependency implied become dependencies of their own.
func drop(g *ir.Graph, u, v ir.OpID) (*ir.Graph, error) {
	var causes ir.Causes
	var deps []ir.Dep
	have := map[[2]ir.OpID]bool{{u, v}: true}
	for _, d := range g.Deps() {
		have[[2]ir.OpID{d.From, d.To}] = true
		if d.From != u || d.To != v {
			d.Cause = causes.ID(g.Cause(d))
			deps = append(deps, d)
		}
	}
	before := reach(g.Len(), depsInto(g), u)
	for _, to := range reach(g.Len(), g.Succs, v) {
		for _, from := range before {
			if have[[2]ir.OpID{from, to}] {
				continue
			}
			h, at := conflicting(g, from, to)
			for _, w := range g.Ops[to].After {
				if w == from {
					h |= ir.Ordered
				}
			}
			if h != 0 {
				deps = append(deps, ir.Dep{From: from, To: to, Hazard: h, Cause: causes.ID(at)})
			}
		}
	}
	return g.WithDeps(ir.Analyzed, deps, causes.Ranges())
}

func us(ns int64) float64 { return float64(ns) / 1e3 }
