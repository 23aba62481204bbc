package auto

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// replayer runs one body repeatedly. Each run begins and ends on its stream.
type replayer interface {
	// Set sets the changed parameters for later runs. values has the values of all parameters of the graph, by id.
	Set(changed []ir.ParamID, values []ir.Scalar) error
	Replay() error // enqueues a run
	Wait() error   // waits for all runs and returns their first error
	Stream() device.Stream
	Close() error
}

// engine plans and instantiates a body of a program. The trace holds the calls of the body, over the buffers and
// modules of the program, and stays open. The error is the reason why the body cannot be replayed.
type engine func(body *tracer.Trace) (replayer, error)

// body is a sequence of calls that a program repeats, with its replayer.
//
// Scalars that may differ from run to run are parameters, operands of kind ir.ArgParam. matches stores their new
// values in values, and replay passes on those that differ from set.
type body struct {
	calls    []calls.Call
	values   []ir.Scalar  // by parameter: its value in the latest calls of the program
	set      []ir.Scalar  // by parameter: its value in the replayer
	changed  []ir.ParamID // parameters that differ between values and set; scratch memory of replay
	replayer replayer

	number          int    // number of the body among all that were made, from 1
	like            uint64 // likeness of the first call
	period          int    // period of the repetition from which the body was made, in calls
	replays, misses int    // number of runs, and of times that calls were held back in vain
	used            int    // position of the last call that was held back for the body
}

// matches reports whether a call matches call index of the body. It compares the calls themselves, not their
// hashes, and stores the values of parameters.
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

// alike reports whether calls are equal except for their operands, of which they have equally many.
func alike(c, d *calls.Call) bool {
	return c.Kind == d.Kind && c.Kernel == d.Kernel && c.Shape == d.Shape && c.PC == d.PC && len(c.Operands) == len(d.Operands)
}

func equal(c, d calls.Call) bool { return alike(&c, &d) && slices.Equal(c.Operands, d.Operands) }

// varies reports whether a call of a body has parameters. Such a call is checked for every run; any other one was
// checked before the body was made.
func varies(c *calls.Call) bool {
	return slices.ContainsFunc(c.Operands, func(o calls.Operand) bool { return o.Kind == ir.ArgParam })
}

// is reports whether the body consists of the calls in list.
func (b *body) is(list []calls.Call) bool { return slices.EqualFunc(b.calls, list, equal) }

// replay enqueues a run with the latest values of parameters. It returns the number of parameters that it has set.
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

// newBody returns a body of the calls in list, which the engine has instantiated.
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
