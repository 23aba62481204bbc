package tracer

import (
	"errors"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// Limits bounds a recorded loop.
type Limits struct {
	Iterations int64 // largest number of iterations; at least 1
	CheckEvery int64 // iterations between two evaluations of the condition; 0 means 1
}

// Loop records a loop as one operation. The calls that record makes are its body. The body repeats until
// the scalar, one element of device memory that the body writes, satisfies the comparison with value.
// Only a Tracer from reprise.Record, or in mode Deferred, records loops. A body may hold launches, copies, fills, loops and
// branches.
func (t *Tracer) Loop(scalar Buffer, is ir.Comparison, value float64, most Limits, record func()) Op {
	if t.stopped() {
		return Op{}
	}
	pc := t.callerPC()
	if most.CheckEvery == 0 {
		most.CheckEvery = 1
	}
	return t.control(pc, ir.KindLoop, scalar, ir.Control{
		Condition: ir.Condition{Is: is, Value: value}, Limit: most.Iterations, Every: most.CheckEvery,
	}, record)
}

// Branch records a branch as one operation. In a replay, the calls of then run if the scalar, one element
// of device memory, satisfies the comparison with value; otherwise those of otherwise run, unless it is
// nil. See Loop for what a body may hold.
func (t *Tracer) Branch(scalar Buffer, is ir.Comparison, value float64, then, otherwise func()) Op {
	if t.stopped() {
		return Op{}
	}
	bodies := []func(){then}
	if otherwise != nil {
		bodies = append(bodies, otherwise)
	}
	return t.control(t.callerPC(), ir.KindBranch, scalar, ir.Control{Condition: ir.Condition{Is: is, Value: value}}, bodies...)
}

// control records a loop or a branch. Each function makes the calls of one body.
func (t *Tracer) control(pc uintptr, kind ir.Kind, scalar Buffer, c ir.Control, bodies ...func()) Op {
	err := t.usable(scalar)
	switch {
	case err != nil:
	case t.mode != Deferred:
		err = errors.New("it can only be recorded: begin the tracer with reprise.Record, or in mode Deferred")
	case bodies[0] == nil:
		err = absent.Nil("the function with the body")
	}
	if err != nil {
		t.fail(pc, "%v: %w", kind, err)
		return Op{}
	}
	c.Scalar = scalar.Range()
	for _, body := range bodies {
		c.Bodies = append(c.Bodies, t.body(kind, body))
	}
	if t.err != nil {
		return Op{}
	}
	return t.record(ir.ControlOp(kind, c), pc)
}

// body runs record and returns the calls that it makes as a graph of their own. The recording around the
// body is set aside meanwhile. Bodies get their tables from shareTables at the end of the trace.
func (t *Tracer) body(kind ir.Kind, record func()) *ir.Graph {
	outer, opaque := t.calls, len(t.opaque)
	t.calls = &recording{}
	record()
	ops, positions := make([]ir.Op, t.calls.len()), t.positions()
	for i := range ops {
		t.expand(&ops[i], t.calls.what(i))
		ops[i].Pos = positions[t.calls.pc(i)]
	}
	t.calls.annotate(ops)
	t.checkBody(kind, ops, t.opaque[opaque:])
	t.calls, t.opaque = outer, t.opaque[:opaque] // drop opaque launches of the body: their numbers count in it
	return &ir.Graph{Ops: ops}
}

// checkBody fails the trace at the line of the first call that a body cannot hold. opaque lists the
// launches of the body that may touch any memory.
func (t *Tracer) checkBody(kind ir.Kind, ops []ir.Op, opaque []ir.OpID) {
	for i := range ops {
		op, pc := &ops[i], t.calls.pc(i)
		switch {
		case op.Kind == ir.KindHost:
			t.fail(pc, "the host call %q is in the body of a %v, which the device runs without the host: move it out of the body", op.Label, kind)
		case op.Kind == ir.KindPrefetch:
			t.fail(pc, "a prefetch of @%s is in the body of a %v, which the device runs without the host: move it out of the body", t.graph.Buffers[op.Prefetch.Range.Buffer].Name, kind)
		case len(opaque) > 0 && int(opaque[0]) == i:
			t.fail(pc, "kernel %s in the body of a %v may touch memory that no parameter leads to: launch it outside", op.Launch.Entry, kind)
		}
	}
}

// shareTables gives bodies the modules, parameters, buffers and shapes of the whole trace.
func (t *Tracer) shareTables(ops []ir.Op) {
	for i := range ops {
		if ops[i].Control == nil {
			continue
		}
		for _, body := range ops[i].Control.Bodies {
			g := t.graph
			body.Name, body.Modules, body.Params, body.Buffers, body.Shapes = g.Name, g.Modules, g.Params, g.Buffers, g.Shapes
			t.shareTables(body.Ops)
		}
	}
}
