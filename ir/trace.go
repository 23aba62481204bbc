package ir

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// TraceID identifies a recording within a process.
type TraceID uint64

var traces atomic.Uint64

// NewTraceID returns an id that no other recording of this process has.
func NewTraceID() TraceID { return TraceID(traces.Add(1)) }

// ErrOtherTrace is in the chain of errors that say that a graph was not made from a trace.
var ErrOtherTrace = errors.New("the plan is of another trace")

// CheckTrace reports why g cannot be bound to what the trace with graph t was recorded on, in an error that wraps
// ErrOtherTrace. A graph that was read from text has no TraceID: it fits if it has the modules, parameters, buffers and host calls of t.
func (g *Graph) CheckTrace(t *Graph) error {
	if t == nil {
		return absent.Nil("the graph of the trace")
	}
	if g.Trace == t.Trace && g.Trace != 0 {
		return nil
	}
	if g.Trace != 0 && t.Trace != 0 {
		return fmt.Errorf("%w: it was made of trace %s, and is to be bound to trace %s: plan the graph of that", ErrOtherTrace, g.Name, t.Name)
	}
	if what := g.differs(t); what != "" {
		return fmt.Errorf("%w: plan %s and trace %s differ: %s: plan the graph of that trace", ErrOtherTrace, g.Name, t.Name, what)
	}
	return nil
}

// differs describes the first module, parameter, buffer or host call of g that is not that of t; "" for none.
func (g *Graph) differs(t *Graph) string {
	const only = "%s is in the plan alone"
	for i, m := range g.Modules {
		switch {
		case i >= len(t.Modules):
			return fmt.Sprintf(only, "module "+m.Name)
		case !m.matches(&t.Modules[i]):
			return fmt.Sprintf("module %d is %s in the plan and %s in the trace, or their texts differ", i, m.Name, t.Modules[i].Name)
		}
	}
	for i, p := range g.Params {
		if i >= len(t.Params) {
			return fmt.Sprintf(only, "parameter $"+p.Name)
		}
		if o := t.Params[i]; p.Name != o.Name || p.Value.Type != o.Value.Type {
			return fmt.Sprintf("parameter %d is $%s, a %v, in the plan and $%s, a %v, in the trace", i, p.Name, p.Value.Type, o.Name, o.Value.Type)
		}
	}
	for i, b := range g.Buffers[:len(g.Buffers)-g.Made] {
		switch {
		case i >= len(t.Buffers):
			return fmt.Sprintf(only, "buffer @"+b.Name)
		case b != t.Buffers[i]:
			return fmt.Sprintf("buffer %d is %s in the plan and %s in the trace", i, b.declaration(), t.Buffers[i].declaration())
		}
	}
	for v := range g.Ops {
		if id := g.Traced(OpID(v)); g.Ops[v].Kind == KindHost && !t.hasHost(id, g.Ops[v].Label) {
			return fmt.Sprintf(only, fmt.Sprintf("host call %v %s", id, g.Ops[v].Label))
		}
	}
	return ""
}

// matches compares the text only where both modules have it.
func (m *Module) matches(o *Module) bool {
	return m.Name == o.Name && m.File == o.File && (m.Source == o.Source || m.Source == "" || o.Source == "")
}

func (g *Graph) hasHost(id OpID, label string) bool {
	return int(id) < len(g.Ops) && g.Ops[id].Kind == KindHost && g.Ops[id].Label == label
}

// declaration is what a graph declares of a buffer, without its number.
func (b *Buffer) declaration() string {
	return fmt.Sprintf("@%s %v[%d] %v %v", b.Name, b.Elem, b.Len, b.Place, b.Role)
}
