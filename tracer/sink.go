package tracer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

func init() {
	traced.Watch = func(dev device.Device, name string, watch func(traced.Runner) traced.Sink) any {
		return newWatched(dev, name, watch)
	}
	traced.SinkOf = func(t any) traced.Sink {
		if t, ok := t.(*Tracer); ok && t != nil {
			return t.sink
		}
		return nil
	}
}

// newWatched is traced.Watch.
func newWatched(dev device.Device, name string, watch func(traced.Runner) traced.Sink) *Tracer {
	t := New(dev, name, Direct)
	var sink traced.Sink
	if watch != nil {
		sink = watch(runner{t})
	}
	if absent.Is(sink) {
		t.err = device.Join(t.err, fmt.Errorf("trace %s: %w", name, absent.Nil("the Sink")), t.cleanUp())
		return t
	}
	t.sink, t.hand = sink, sink.Flush()
	return t
}

// runner is the traced.Runner of a program.
type runner struct{ t *Tracer }

func (r runner) Check(c *calls.Call) bool { return r.t.check(c) }

func (r runner) Run(c *calls.Call) bool {
	if r.t.err != nil {
		return false
	}
	r.t.issue(c)
	return true
}

func (r runner) Excerpt(list []calls.Call) (any, error) {
	trace, err := r.t.excerpt(list)
	if err != nil {
		return nil, err
	}
	return trace, nil
}

func (r runner) Buffers() []ir.Buffer  { return r.t.graph.Buffers }
func (r runner) Stream() device.Stream { return r.t.stream }

func (r runner) Fail(pc uintptr, err error) {
	if pc == 0 {
		r.t.err = device.Join(r.t.err, err)
		return
	}
	r.t.fail(pc, "%w", err)
}
