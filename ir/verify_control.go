package ir

import "slices"

// condition: the scalar is one element that the device can read, and the value is comparable to it.
func (v *verifier) condition(id OpID, op *Op) {
	c := op.Control
	if c == nil {
		return
	}
	r := c.Scalar
	if r.Buffer < 0 || int(r.Buffer) >= len(v.g.Buffers) {
		v.bufferID(id, r.Buffer)
		return
	}
	if err := c.Condition.Check(v.g); err != nil {
		v.add(id, "%s compares %s: %v", v.about(id), rangeText(v.g, r), err)
	}
}

// bodies are valid graphs that share the tables of the graph around them. The body of a loop writes the
// scalar of the condition, else the loop would run to its limit.
//
// Each body is verified as a graph of its own. The Uses of the operation are the union of the accesses of its bodies,
// so the rules about hazards need not enter them.
func (v *verifier) bodies(id OpID, op *Op) {
	c := op.Control
	if c == nil {
		return
	}
	before := len(v.found)
	v.bodyCount(id, op)
	for _, body := range c.Bodies {
		v.body(id, body)
	}
	if len(v.found) > before {
		return
	}
	if !slices.Equal(op.Uses, c.uses()) {
		v.add(id, "%s does not list the accesses of its bodies: make it with ControlOp", v.about(id))
	}
	if op.Kind == KindLoop && !slices.ContainsFunc(op.Uses, func(a Access) bool { return a.Mode.Writes() && a.Overlaps(c.Scalar) }) {
		v.add(id, "%s never ends by %s, which its body does not write: write it, or compare another scalar", v.about(id), rangeText(v.g, c.Scalar))
	}
}

// bodyCount: one body and limits of at least 1 for a loop, one or two bodies for a branch.
func (v *verifier) bodyCount(id OpID, op *Op) {
	c := op.Control
	switch n := len(c.Bodies); {
	case op.Kind == KindLoop && n != 1:
		v.add(id, "%s has %d bodies: a loop has one", v.about(id), n)
	case op.Kind == KindBranch && n != 1 && n != 2:
		v.add(id, "%s has %d bodies: a branch has one or two", v.about(id), n)
	case op.Kind == KindLoop && (c.Limit < 1 || c.Every < 1):
		v.add(id, "%s runs at most %d iterations and evaluates its condition after every %d: both are at least 1", v.about(id), c.Limit, c.Every)
	case op.Kind == KindBranch && (c.Limit != 0 || c.Every != 0):
		v.add(id, "%s has a number of iterations: only a loop has", v.about(id))
	}
}

// body: valid by itself, and without operations that need the host.
func (v *verifier) body(id OpID, body *Graph) {
	if body == nil {
		v.add(id, "%s has a body that is nil", v.about(id))
		return
	}
	if !slices.Equal(body.Modules, v.g.Modules) || !slices.Equal(body.Params, v.g.Params) || !slices.Equal(body.Buffers, v.g.Buffers) ||
		!slices.Equal(body.Shapes, v.g.Shapes) {
		v.add(id, "%s has a body with other modules, parameters, buffers or shapes: a body has those of the graph around it", v.about(id))
		return
	}
	if err := Verify(body); err != nil {
		v.addInner(id, v.about(id), err, body, nil)
		return
	}
	for u := range body.Ops {
		if k := body.Ops[u].Kind; k == KindHost || k == KindPrefetch {
			v.add(id, "in the body of %s: %s is in a body, which the device runs without the host: move it out of the body", v.about(id), about(body, OpID(u)))
			v.found[len(v.found)-1].in = inner{graph: body, op: OpID(u)}
		}
	}
}

// bodies of loops and branches are all scheduled. They have no arena, since they use that of the schedule
// around them.
func (v *scheduleVerifier) bodies() {
	for id := range v.g.Ops {
		v.scheduledBodies(OpID(id))
	}
	for id := range v.s.Bodies {
		if id < 0 || int(id) >= len(v.g.Ops) {
			v.add(-1, "bodies of %v are scheduled, but the graph has %d operations", id, len(v.g.Ops))
		}
	}
}

func (v *scheduleVerifier) scheduledBodies(id OpID) {
	var bodies []*Graph
	if c := v.g.Ops[id].Control; c != nil {
		bodies = c.Bodies
	}
	scheduled := v.s.Bodies[id]
	if len(scheduled) != len(bodies) {
		v.add(id, "%d of %d bodies of %s are scheduled: schedule each, as in %v lane(0) body serial lanes(1) { ... }", len(scheduled), len(bodies), about(v.g, id), id)
		return
	}
	for i, s := range scheduled {
		switch {
		case s == nil || s.Graph != bodies[i]:
			v.add(id, "%s has a schedule of another graph for body %d: schedule the body", about(v.g, id), i)
		case s.Offset != nil:
			v.add(id, "%s has a schedule with an arena for body %d: a body uses the arena of the schedule around it", about(v.g, id), i)
		default:
			if err := VerifySchedule(s); err != nil {
				v.addInner(id, about(v.g, id), err, nil, s)
			}
		}
	}
}
