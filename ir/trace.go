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
		return fmt.Errorf("%w: %s of %s is not in trace %s: plan the graph of that", ErrOtherTrace, what, g.Name, t.Name)
	}
	return nil
}

// differs names the first module, parameter, buffer or host call of g that is not the one of t; "" for none.
func (g *Graph) differs(t *Graph) string {
	for i, m := range g.Modules {
		if i >= len(t.Modules) || !m.matches(&t.Modules[i]) {
			return "module " + m.Name
		}
	}
	for i, p := range g.Params {
		if i >= len(t.Params) || p.Name != t.Params[i].Name || p.Value.Type != t.Params[i].Value.Type {
			return "parameter $" + p.Name
		}
	}
	for i, b := range g.Buffers[:len(g.Buffers)-g.Made] {
		if i >= len(t.Buffers) || b != t.Buffers[i] {
			return "buffer @" + b.Name
		}
	}
	for v := range g.Ops {
		if id := g.Traced(OpID(v)); g.Ops[v].Kind == KindHost && !t.hasHost(id, g.Ops[v].Label) {
			return fmt.Sprintf("host call %v %s", id, g.Ops[v].Label)
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
