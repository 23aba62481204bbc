package auto

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// replayer runs one body again and again. What it enqueues begins and ends on its stream.
type replayer interface {
	// Set gives the changed parameters their values for later runs. Values are by parameter, of all of the graph's.
	Set(changed []ir.ParamID, values []ir.Scalar) error
	Replay() error // enqueues a run
	Wait() error   // waits for all runs and returns their first error
	Stream() device.Stream
	Close() error
}

// engine makes a body of a program replayable. The trace holds the calls of the body, over the buffers and modules of
// the program, and stays open. An error says why the body cannot be replayed.
type engine func(body *tracer.Trace) (replayer, error)

// body is a sequence of calls that a program makes again and again.
type body struct {
	calls    []calls.Call
	values   []ir.Scalar  // of its parameters, in the latest calls of the program
	set      []ir.Scalar  // of its parameters, in the replayer
	changed  []ir.ParamID // parameters that differ, for the next replay
	replayer replayer

	number          int    // of the bodies made, from 1
	like            uint64 // symbol of the first call
	period          int    // in which the body was found
	replays, misses int
	used            int // position of the last call that was taken for one of the body
}

// matches reports whether a call is that of the body at an index. It compares the calls themselves, not their hashes. The
// values of parameters are kept.
func (b *body) matches(index int, c *calls.Call) bool {
	want := &b.calls[index]
	if !alike(want, c) {
		return false
	}
	for i := range c.Operands {
		w, got := &want.Operands[i], &c.Operands[i]
		switch {
		case w.Kind == ir.ArgParam && got.Kind == ir.ArgScalar && got.Type == w.Type:
			b.values[w.ID] = got.Scalar()
		case *w != *got:
			return false
		}
	}
	return true
}

// alike reports whether calls differ in operands at most.
func alike(c, d *calls.Call) bool {
	return c.Kind == d.Kind && c.Kernel == d.Kernel && c.Shape == d.Shape && c.PC == d.PC && len(c.Operands) == len(d.Operands)
}

func equal(c, d calls.Call) bool { return alike(&c, &d) && slices.Equal(c.Operands, d.Operands) }

// varies reports whether a call of a body has other scalars each time. Any other call was checked when the body was found.
func varies(c *calls.Call) bool {
	return slices.ContainsFunc(c.Operands, func(o calls.Operand) bool { return o.Kind == ir.ArgParam })
}

// is reports whether the body consists of those calls.
func (b *body) is(list []calls.Call) bool { return slices.EqualFunc(b.calls, list, equal) }

// replay enqueues a run with the latest values of parameters, and returns how many had to be set.
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
func (w *watcher) newBody(list []calls.Call) (*body, error) {
	excerpt, err := w.run.Excerpt(list)
	if err != nil {
		return nil, err
	}
	trace, b := excerpt.(*tracer.Trace), &body{calls: list}
	for _, p := range trace.Graph.Params {
		b.values, b.set = append(b.values, p.Value), append(b.set, p.Value)
	}
	b.replayer, err = w.engine(trace)
	return b, err
}
