package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
)

// program is a schedule with every operation as device work.
type program struct {
	sched     *ir.Schedule
	bound     Bindings
	functions functionCache
	settings  settings
	used      *users                 // nil until they are needed
	work      []device.Work          // by operation, with the settings; nothing for a loop or a branch
	bodies    map[ir.OpID][]*program // of loops and branches; nil without any
}

func newProgram(dev device.Device, s *ir.Schedule, b Bindings) (*program, error) {
	g := s.Graph
	p := &program{
		sched:     s,
		bound:     b,
		functions: functionCache{dev: dev, b: b, seen: map[functionKey]device.Function{}},
		settings:  traced(g, b),
		work:      make([]device.Work, g.Len()),
	}
	none := edits{of: &p.settings}
	for i := range g.Ops {
		id := ir.OpID(i)
		w, err := p.lowerOp(id, &none)
		if err != nil {
			return nil, parts.OpError(g, id, err)
		}
		p.work[id] = w
	}
	return p, p.newBodies(dev)
}

// lowerOp returns the work of an operation with edits.
func (p *program) lowerOp(id ir.OpID, e *edits) (device.Work, error) {
	op := &p.sched.Graph.Ops[id]
	s := lower.Settings{Label: p.label(id), Off: e.isOff(id)}
	switch op.Kind {
	case ir.KindLaunch:
		if err := p.setLaunch(id, e, &s); err != nil {
			return nil, err
		}
	case ir.KindLoop, ir.KindBranch:
		return device.Nothing{}, nil // see controls
	case ir.KindHost:
		if s.Host = p.bound.HostFunc(p.sched.Graph.Traced(id)); s.Host == nil {
			return nil, fmt.Errorf("no host function is bound: a trace read from a file must be given one")
		}
	}
	return lower.Work(op, &s, e), nil
}

// setLaunch sets what launches alone have.
func (p *program) setLaunch(id ir.OpID, e *edits, s *lower.Settings) (err error) {
	l := p.sched.Graph.Ops[id].Launch
	if s.Function, err = p.functions.get(l.Module, l.Entry); err != nil {
		return err
	}
	s.Grid = e.gridOf(id, l)
	if p.sched.Priority != nil {
		s.Priority = int(p.sched.Priority[id])
	}
	return nil
}

// label returns the name of an operation. A launch that was lowered before keeps its label, as formatting one takes
// longer than the rest of a change of a parameter.
func (p *program) label(id ir.OpID) string {
	if was, lowered := p.work[id].(*device.Launch); lowered {
		return was.Label
	}
	return parts.OpName(p.sched.Graph, id)
}

type functionKey struct {
	module ir.ModuleID
	entry  string
}

// functionCache looks every kernel up once.
type functionCache struct {
	dev  device.Device
	b    Bindings
	seen map[functionKey]device.Function
}

func (c *functionCache) get(m ir.ModuleID, entry string) (device.Function, error) {
	key := functionKey{m, entry}
	if f, ok := c.seen[key]; ok {
		return f, nil
	}
	f, err := c.dev.Function(c.b.Module(m), entry)
	if err == nil {
		c.seen[key] = f
	}
	return f, err
}
