package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// program is a schedule together with the device work of every operation. The bodies of loops and
// branches are programs too and share the settings.
//
// Settings, changes and back ends identify an operation by its number in the whole program. The
// operations of the outermost schedule keep their numbers, and those of the bodies follow, body by
// body; see find. Invariant: work is what lower.Work returns for the operation with the settings.
type program struct {
	sched     *ir.Schedule
	bound     traced.Bindings
	functions *functionCache
	settings  *settings
	used      *users        // nil until the first change
	named     *opname.Names // nil until the first use
	work      []device.Work // by operation of the schedule; for a loop or a branch see scalar

	bodies map[ir.OpID][]*program // of loops and branches; nil without any
	inner  []*program             // all bodies, ascending by first; of the outermost program only
	first  ir.OpID                // number of the first operation in the whole program
	place  bodyPlace              // of a body
}

func newProgram(dev device.Device, s *ir.Schedule, b traced.Bindings) (*program, error) {
	settings := tracedSettings(s.Graph, b)
	p := &program{
		sched:     s,
		bound:     b,
		functions: &functionCache{dev: dev, b: b, seen: map[functionKey]device.Function{}},
		settings:  &settings,
	}
	next := ir.OpID(0)
	return p, p.lower(p, &next)
}

// lower lowers the operations of p and then its bodies, which it appends to outermost.inner. next is
// the smallest number that no operation has yet.
func (p *program) lower(outermost *program, next *ir.OpID) error {
	g := p.sched.Graph
	p.first, p.work = *next, make([]device.Work, g.Len())
	*next += ir.OpID(g.Len())
	none := edits{of: p.settings}
	for i := range g.Ops {
		w, err := p.lowerOp(ir.OpID(i), &none)
		if err != nil {
			return p.error(ir.OpID(i), err)
		}
		p.work[i] = w
	}
	return p.lowerBodies(outermost, next)
}

// lowerOp returns the work of operation id of the schedule under the edits. A disabled operation
// becomes work that does nothing.
func (p *program) lowerOp(id ir.OpID, e *edits) (device.Work, error) {
	op := &p.sched.Graph.Ops[id]
	s := lower.Settings{Label: p.label(id), Off: e.isOff(p.first + id)}
	switch op.Kind {
	case ir.KindLaunch:
		if err := p.setLaunch(id, e, &s); err != nil {
			return nil, err
		}
	case ir.KindLoop, ir.KindBranch:
		return scalar(op.Control, &s, e), nil
	case ir.KindHost:
		if s.Host = p.bound.HostFunc(traced.Origin(p.sched.Graph, id)); s.Host == nil {
			return nil, fmt.Errorf("the host call has no function, since files have none: set it with Trace.BindHost")
		}
	}
	return lower.Work(op, &s, e), nil
}

// setLaunch sets the settings that only launches have: kernel, grid and priority.
func (p *program) setLaunch(id ir.OpID, e *edits, s *lower.Settings) (err error) {
	l := p.sched.Graph.Ops[id].Launch
	if s.Function, err = p.functions.get(l.Module, l.Entry); err != nil {
		return err
	}
	s.Grid = e.gridOf(p.first+id, l)
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
	return p.nameHere(id)
}

// scalar returns the work of a loop or a branch: a copy from its scalar, without a destination. It has no bytes if the
// operation is off.
func scalar(c *ir.Control, s *lower.Settings, e *edits) *device.Copy {
	look := &device.Copy{Src: e.Address(c.Scalar.Buffer) + device.Ptr(c.Scalar.Lo), Label: "scalar of " + s.Label}
	if !s.Off {
		look.Bytes = c.Scalar.Hi - c.Scalar.Lo
	}
	return look
}

type functionKey struct {
	module ir.ModuleID
	entry  string
}

// functionCache maps kernels to functions of the device, so that each kernel is looked up once.
type functionCache struct {
	dev  device.Device
	b    traced.Bindings
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
