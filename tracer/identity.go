package tracer

import (
	"fmt"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

var recordings atomic.Uint64

// newIdentity returns an ir.Graph.Trace that no other recording of this process has.
func newIdentity() uint64 { return recordings.Add(1) }

// checkIdentity returns an error that wraps ir.ErrOtherTrace if g cannot be bound to the buffers and
// modules of the trace with graph t. A graph that was read from text has no identity: it is accepted if
// it has the modules, parameters, buffers and host calls of t.
func checkIdentity(g, t *ir.Graph) error {
	if g.Trace == t.Trace && g.Trace != 0 {
		return nil
	}
	if g.Trace != 0 && t.Trace != 0 {
		return fmt.Errorf("%w: it was made of trace %s, and is to be bound to trace %s: plan the graph of that", ir.ErrOtherTrace, g.Name, t.Name)
	}
	if what := difference(g, t); what != "" {
		return fmt.Errorf("%w: plan %s and trace %s differ: %s: plan the graph of that trace", ir.ErrOtherTrace, g.Name, t.Name, what)
	}
	return nil
}

// difference describes the first module, parameter, buffer or host call in which g differs from t. It
// returns "" if there is none.
func difference(g, t *ir.Graph) string {
	const only = "%s is in the plan alone"
	for i, m := range g.Modules[:len(g.Modules)-g.Generated] {
		switch {
		case i >= len(t.Modules):
			return fmt.Sprintf(only, "module "+m.Name) + " (a plan from a file cannot have the modules that the passes merge and slice make)"
		case !sameModule(&m, &t.Modules[i]):
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
			return fmt.Sprintf("buffer %d is %s in the plan and %s in the trace", i, declaration(&b), declaration(&t.Buffers[i]))
		}
	}
	for v := range g.Ops {
		if id := traced.Origin(g, ir.OpID(v)); g.Ops[v].Kind == ir.KindHost && !hasHost(t, id, g.Ops[v].Label) {
			return fmt.Sprintf(only, fmt.Sprintf("host call %v %s", id, g.Ops[v].Label))
		}
	}
	return ""
}

// sameModule compares the text only where both modules have it.
func sameModule(m, o *ir.Module) bool {
	return m.Name == o.Name && m.File == o.File && (m.Source == o.Source || m.Source == "" || o.Source == "")
}

func hasHost(g *ir.Graph, id ir.OpID, label string) bool {
	return int(id) < len(g.Ops) && g.Ops[id].Kind == ir.KindHost && g.Ops[id].Label == label
}

// declaration prints what a graph declares of a buffer, without its number.
func declaration(b *ir.Buffer) string {
	return fmt.Sprintf("@%s %v[%d] %v %v", b.Name, b.Elem, b.Len, b.Place, b.Role)
}
