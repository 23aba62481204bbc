package tracer

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Replayer runs one body again and again. What it enqueues begins and ends on its stream.
type Replayer interface {
	// Set gives parameters that have others their values for the runs to come. Values are by parameter, of all of the graph's.
	Set(changed []ir.ParamID, values []ir.Scalar) error
	Replay() error // enqueues a run
	Wait() error   // for all runs, with their first error
	Stream() device.Stream
	Close() error
}

// Engine makes a body of a program replayable. The trace is what the program does in it, with its buffers
// and modules, which stay the program's: leave it open. An error says why not to.
type Engine func(body *Trace) (Replayer, error)

// body is a stretch of calls that a program makes again and again.
type body struct {
	calls    []call
	values   []ir.Scalar  // of its parameters, as the program asked for them last
	set      []ir.Scalar  // and as the replayer has them
	changed  []ir.ParamID // that differ, for the next replay
	replayer Replayer

	number          int    // of the bodies made, from 1
	like            uint64 // symbol of the first call
	period          int    // of which it was found to be visits
	replays, misses int
	used            int // position of the last call that was taken for one of it
}

// matches reports whether a call is that of the body at an index. It looks at all there is. Of
// parameters it takes the value.
func (b *body) matches(index int, c *call) bool {
	want := &b.calls[index]
	if !want.alike(c) {
		return false
	}
	for i := range c.operands {
		w, got := &want.operands[i], &c.operands[i]
		switch {
		case w.kind == ir.ArgParam && got.kind == ir.ArgScalar && got.typ == w.typ:
			b.values[w.id] = got.scalar()
		case *w != *got:
			return false
		}
	}
	return true
}

// alike reports whether calls differ in operands at most.
func (c *call) alike(d *call) bool {
	return c.kind == d.kind && c.kernel == d.kernel && c.shape == d.shape && c.pc == d.pc && len(c.operands) == len(d.operands)
}

func (c *call) equal(d *call) bool { return c.alike(d) && slices.Equal(c.operands, d.operands) }

// varies reports whether a call of a body has other scalars each time. Any other call was checked when the body was found.
func (c *call) varies() bool {
	return slices.ContainsFunc(c.operands, func(o operand) bool { return o.kind == ir.ArgParam })
}

// is reports whether the body is one of those calls.
func (b *body) is(calls []call) bool {
	return slices.EqualFunc(b.calls, calls, func(c, d call) bool { return c.equal(&d) })
}

// replay enqueues a run with the values that the program asked for, and returns how many had to be set.
func (b *body) replay() (updates int, err error) {
	b.changed = b.changed[:0]
	for i, v := range b.values {
		if v != b.set[i] {
			b.changed = append(b.changed, ir.ParamID(i))
		}
	}
	if len(b.changed) > 0 {
		if err := b.replayer.Set(b.changed, b.values); err != nil {
			return 0, err
		}
		copy(b.set, b.values)
	}
	return len(b.changed), b.replayer.Replay()
}

// newBody makes calls replayable.
func (t *Tracer) newBody(calls []call, engine Engine) (*body, error) {
	trace, err := t.excerpt(calls)
	if err != nil {
		return nil, err
	}
	b := &body{calls: calls}
	for _, p := range trace.Graph.Params {
		b.values, b.set = append(b.values, p.Value), append(b.set, p.Value)
	}
	b.replayer, err = engine(trace)
	return b, err
}

// excerpt is a trace of some calls alone, over the buffers and modules of t. Scalars among their operands that
// are parameters become such. Whatever a buffer is for, the rest of the program may look at
// it before and after.
func (t *Tracer) excerpt(calls []call) (*Trace, error) {
	g := &ir.Graph{Name: t.graph.Name, Trace: ir.NewTraceID(), Modules: t.graph.Modules, Buffers: slices.Clone(t.graph.Buffers)}
	for i := range g.Buffers {
		g.Buffers[i].Role = ir.InOut
	}
	e := &Tracer{dev: t.dev, mode: Deferred, graph: g, buffers: slices.Clone(t.buffers), modules: t.modules, replays: &replays{}}
	for i := range calls {
		if err := e.add(&calls[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", calls[i].name(), err)
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
func (t *Tracer) add(c *call) (err error) {
	op := t.operation(c, &ir.Launch{})
	if c.kind != ir.KindLaunch {
		t.record(op, c.pc)
		return nil
	}
	args := make([]any, len(c.operands))
	for i := range c.operands {
		switch o := &c.operands[i]; o.kind {
		case ir.ArgBuffer:
			args[i] = Buffer{t: t, memory: memory{id: ir.BufferID(o.id)}, lo: int64(o.bits), hi: o.end}
		case ir.ArgParam:
			t.graph.Params = append(t.graph.Params, ir.Param{Name: fmt.Sprintf("%s_%d_%d", c.kernel.entry, t.calls.len(), i), Value: o.scalar()})
		}
	}
	if op.Uses, err = t.accesses(c.kernel, c.shape, op.Launch.Args, args); err != nil {
		return err
	}
	if id := t.record(op, c.pc); c.kernel.opaque {
		t.opaque = append(t.opaque, id)
	}
	return nil
}
