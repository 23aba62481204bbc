package ir

import "github.com/reprise-gpu/reprise/internal/dense"

// dependencies are absent in a traced graph. In others each has a reason, and its cause is a range of an
// existing buffer.
func (v *verifier) dependencies() {
	if v.g.Phase == Traced {
		if n := len(v.g.Deps()); n > 0 {
			v.add(-1, "a traced graph has no dependencies, this one has %d: give it a later phase", n)
		}
		return
	}
	if v.g.Phase > Reduced {
		v.add(-1, "the graph is in the unknown phase %v", v.g.Phase)
		return
	}
	for _, d := range v.g.Deps() {
		v.dependency(d)
	}
}

func (v *verifier) dependency(d Dep) {
	if d.Hazard == 0 || d.Hazard >= 1<<len(hazardWords) {
		v.add(d.To, "dependency %v -> %v has no known reason: name raw, war, waw or after", d.From, d.To)
	}
	cause := v.g.Cause(d)
	if cause.Empty() {
		return
	}
	if b := cause.Buffer; b < 0 || int(b) >= len(v.g.Buffers) {
		v.add(d.To, "dependency %v -> %v names buffer %d of %d", d.From, d.To, b, len(v.g.Buffers))
		return
	}
	v.inside(cause, func(why string) {
		v.add(d.To, "dependency %v -> %v is caused by %s: %s", d.From, d.To, rangeText(v.g, cause), why)
	})
}

// preds returns the dependencies as a graph over operations, by successor.
func (g *Graph) preds() *dense.Preds {
	d := dense.NewPreds(len(g.Ops), len(g.Deps()))
	for v := range g.Ops {
		for _, dep := range g.DepsInto(OpID(v)) {
			d.Add(int32(dep.From))
		}
		d.EndRow()
	}
	return d
}

// hazards: every conflict and after edge is implied by a path of dependencies.
//
// The conflicts are computed from the accesses anew, by the sweep of this package. The sweep omits pairs with a
// dependency of their own, which are most, so a batch holds the others only. One search for paths decides a batch.
func (v *verifier) hazards() {
	d := v.g.preds()
	v.g.needs(d, func(needs []conflict) bool {
		for _, c := range missing(d, needs) {
			v.add(OpID(c.To), "%s must wait for %s (%s): add the dependency %v -> %v",
				v.about(OpID(c.To)), v.about(OpID(c.From)), c.reason(v.g), OpID(c.From), OpID(c.To))
		}
		return !v.full()
	})
}

// reason prints why two operations must be ordered: raw @x[0:4096].
func (c *conflict) reason(g *Graph) string {
	if c.cause.Empty() {
		return c.hazard.String()
	}
	return c.hazard.String() + " " + rangeText(g, c.cause)
}

// missing returns the needs that neither an edge nor a path of d satisfies. Edges are looked up first, since
// they satisfy most.
func missing(d *dense.Preds, needs []conflict) []conflict {
	var open []conflict
	for _, c := range needs {
		if !d.Has(c.From, c.To) {
			open = append(open, c)
		}
	}
	queries := make([]dense.Edge, len(open))
	for i, c := range open {
		queries[i] = c.Edge
	}
	var lost []conflict
	for i, ok := range d.Implied(queries) {
		if !ok {
			lost = append(lost, open[i])
		}
	}
	return lost
}

// reduced: no dependency is implied by a path over others.
func (v *verifier) reduced() {
	deps := v.g.Deps()
	queries := make([]dense.Edge, len(deps))
	for i, d := range deps {
		queries[i] = dense.Edge{From: int32(d.From), To: int32(d.To)}
	}
	for i, redundant := range v.g.preds().Implied(queries) {
		if d := deps[i]; redundant {
			v.add(d.To, "dependency %v -> %v is implied by a path over other operations: drop it", d.From, d.To)
		}
	}
}
