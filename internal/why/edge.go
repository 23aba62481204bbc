package why

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// Kinds of edges.
const (
	Direct  = "direct"  // a dependency that no others imply
	Implied = "implied" // a conflict that other dependencies order as well
	Ordered = "ordered" // no conflict, but dependencies of others order the two
	None    = "none"    // neither: the two may overlap
)

// Ways in which a plan orders two operations.
const (
	ByLane  = "lane"
	ByWait  = "wait"
	ByPath  = "path"  // lanes and waits of other operations
	ByDelay = "delay" // a wait that no dependency requires
	ByNone  = "none"
)

// Edge is why two operations run one after the other.
type Edge struct {
	From      Ref        `json:"from"`
	To        Ref        `json:"to"`
	Kind      string     `json:"kind"`             // Direct, Implied, Ordered or None
	Cause     *Cause     `json:"cause,omitempty"`  // of a dependency that the analysis found
	Explicit  bool       `json:"explicit"`         // the program states it with an after edge
	Conflicts []Conflict `json:"conflicts"`        // all of them
	Others    []string   `json:"others,omitempty"` // the operations of a path of dependencies that order the two without this one
	By        string     `json:"by"`               // ByLane, ByWait, ByPath, ByDelay or ByNone
	Path      []Step     `json:"path,omitempty"`   // from From to To in the plan
	WhatIf    *WhatIf    `json:"what_if,omitempty"`
}

// Step is a step of the plan from one operation to a later one.
type Step struct {
	To   string `json:"to"`
	By   string `json:"by"`   // ByLane, ByWait or ByDelay
	Lane int    `json:"lane"` // of To
}

// Edge explains the order of two operations, each given by a label, a name or a number. The order of the two is that of the
// program.
func (p *Plan) Edge(a, b string) (*Edge, error) {
	c, u, err := p.find(a)
	if err != nil {
		return nil, err
	}
	d, v, err := p.find(b)
	if err != nil {
		return nil, err
	}
	switch {
	case c != d:
		return nil, fmt.Errorf("%s and %s are in different loops or branches: name two operations of one body, or the loop itself", c.name(u), d.name(v))
	case u == v:
		return nil, fmt.Errorf("%s is one operation: name two", c.name(u))
	case u > v:
		u, v = v, u
	}
	return p.edge(c, u, v)
}

func (p *Plan) edge(c *scope, u, v ir.OpID) (e *Edge, err error) {
	e = &Edge{From: c.ref(u), To: c.ref(v), Conflicts: conflicts(c.all, u, v)}
	if e.Conflicts == nil {
		e.Conflicts = []Conflict{}
	}
	for _, w := range c.all.Ops[v].After {
		e.Explicit = e.Explicit || w == u
	}
	if d, ok := find(c.all, u, v); ok {
		cause := CauseOf(c.all, d)
		e.Cause = &cause
	}
	_, direct := find(c.reduced, u, v)
	others := path(c.reduced.Len(), except(depsInto(c.reduced), u, v), u, v)
	e.Others = c.listed(others)
	switch {
	case direct && others == nil:
		e.Kind = Direct
	case others != nil && (e.Cause != nil || e.Explicit || len(e.Conflicts) > 0):
		e.Kind = Implied
	case others != nil:
		e.Kind = Ordered
	default:
		e.Kind = None
	}
	c.order(e, u, v)
	if e.Kind == Direct && c.path == "" {
		e.WhatIf, err = p.without(u, v)
	}
	return e, err
}

// order sets how the plan orders two operations.
func (c *scope) order(e *Edge, u, v ir.OpID) {
	way := path(c.schedule.Graph.Len(), c.before, u, v)
	switch {
	case way == nil:
		e.By = ByNone
	case c.schedule.Lane[u] == c.schedule.Lane[v]:
		e.By = ByLane
	case len(way) == 2:
		e.By = c.by(u, v)
	default:
		e.By = ByPath
	}
	for i := 1; i < len(way); i++ {
		e.Path = append(e.Path, Step{c.name(way[i]), c.by(way[i-1], way[i]), int(c.schedule.Lane[way[i]])})
	}
}

// by returns how the plan orders an operation behind a predecessor of the schedule.
func (c *scope) by(u, v ir.OpID) string {
	if c.schedule.Lane[u] == c.schedule.Lane[v] {
		return ByLane
	}
	if c.schedule.Delays != nil {
		for _, w := range c.schedule.Delays[v] {
			if w == u {
				return ByDelay
			}
		}
	}
	return ByWait
}
