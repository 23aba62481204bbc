package tracer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// excerpt returns a trace of some calls alone, over the buffers and modules of t. Scalars among their operands
// that are parameters become parameters of the trace. Every buffer is an InOut, as the rest of the program may
// use it before and after.
func (t *Tracer) excerpt(list []calls.Call) (*Trace, error) {
	g := &ir.Graph{Name: t.graph.Name, Trace: newIdentity(), Modules: t.graph.Modules, Buffers: slices.Clone(t.graph.Buffers)}
	for i := range g.Buffers {
		g.Buffers[i].Role = ir.InOut
	}
	e := &Tracer{dev: t.dev, mode: Deferred, graph: g, calls: &recording{}, buffers: slices.Clone(t.buffers), modules: t.modules, kernels: t.kernels, replays: &replays{}}
	for i := range list {
		if err := e.add(&list[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", &list[i], err)
		}
	}
	e.collect()
	e.widenOpaque()
	if err := ir.Verify(g); err != nil {
		return nil, err
	}
	return &Trace{Graph: g, t: e}, nil
}

// add records a call of another trace over the same buffers.
func (t *Tracer) add(c *calls.Call) (err error) {
	op := t.operation(c, &ir.Launch{})
	if c.Kind != ir.KindLaunch {
		t.record(op, c.PC)
		return nil
	}
	k := t.kernel(c)
	args := make([]any, len(c.Operands))
	for i := range c.Operands {
		switch o := &c.Operands[i]; o.Kind {
		case ir.ArgBuffer:
			args[i] = Buffer{t: t, memory: memory{id: ir.BufferID(o.ID)}, lo: int64(o.Bits), hi: o.End}
		case ir.ArgParam:
			t.graph.Params = append(t.graph.Params, ir.Param{Name: fmt.Sprintf("%s_%d_%d", k.entry, t.calls.len(), i), Value: o.Scalar()})
		}
	}
	if op.Uses, err = t.accesses(k, Shape(c.Shape), op.Launch.Args, args, nil); err != nil {
		return err
	}
	if o := t.record(op, c.PC); k.opaque {
		t.opaque = append(t.opaque, o.id)
	}
	return nil
}
