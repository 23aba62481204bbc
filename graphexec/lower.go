package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// program is a schedule with every operation as device work.
type program struct {
	sched     *ir.Schedule
	bound     Bindings
	functions functionCache
	settings  settings
	used      *users        // nil until they are needed
	work      []device.Work // by operation, with the settings
}

func lower(dev device.Device, s *ir.Schedule, b Bindings) (*program, error) {
	g := s.Graph
	p := &program{
		sched:     s,
		bound:     b,
		functions: functionCache{dev: dev, b: b, seen: map[functionKey]device.Function{}},
		settings:  traced(g, b),
		work:      make([]device.Work, g.Len()),
	}
	for i := range g.Ops {
		id := ir.OpID(i)
		w, err := p.lowerOp(id, &edits{of: &p.settings})
		if err != nil {
			return nil, parts.OpError(g, id, err)
		}
		p.work[id] = w
	}
	return p, nil
}

// lowerOp is the work of an operation under some settings.
func (p *program) lowerOp(id ir.OpID, s *edits) (device.Work, error) {
	g := p.sched.Graph
	op := &g.Ops[id]
	var on int64 = 1 // what moves nothing does nothing
	if s.isOff(id) {
		on = 0
	}
	switch op.Kind {
	case ir.KindLaunch:
		return p.lowerLaunch(id, s)
	case ir.KindCopy:
		c := op.Copy
		if c.Dst.Empty() {
			return device.Nothing{}, nil
		}
		return &device.Copy{Dst: s.address(c.Dst), Src: s.address(c.Src), Bytes: on * (c.Dst.Hi - c.Dst.Lo), Label: parts.OpName(g, id)}, nil
	case ir.KindMemset:
		m := op.Memset
		if m.Dst.Empty() {
			return device.Nothing{}, nil
		}
		width := m.Value.Type.Size()
		return &device.Memset{Dst: s.address(m.Dst), Value: uint32(m.Value.Bits), Width: int(width), Count: on * (m.Dst.Hi - m.Dst.Lo) / width, Label: parts.OpName(g, id)}, nil
	case ir.KindPrefetch:
		f := op.Prefetch
		if f.Range.Empty() {
			return device.Nothing{}, nil
		}
		return &device.Prefetch{At: s.address(f.Range), Bytes: on * (f.Range.Hi - f.Range.Lo), ToDevice: f.ToDevice, Label: parts.OpName(g, id)}, nil
	case ir.KindHost:
		f := p.bound.HostFunc(g.Traced(id))
		if f == nil {
			return nil, fmt.Errorf("no host function is bound: a trace read from a file must be given one")
		}
		if s.isOff(id) {
			f = func() error { return nil } // a driver cannot switch off the nodes of host calls
		}
		return &device.HostCall{Func: f, Label: parts.OpName(g, id), Uses: hostUses(op, s)}, nil
	}
	return device.Nothing{}, nil
}

func hostUses(op *ir.Op, s *edits) []device.HostUse {
	var uses []device.HostUse
	for _, a := range op.Uses {
		uses = append(uses, device.HostUse{
			Ptr: s.address(a.Range), Bytes: a.Range.Hi - a.Range.Lo,
			Read: a.Mode.Reads(), Write: a.Mode.Writes(),
		})
	}
	return uses
}

func (p *program) lowerLaunch(id ir.OpID, s *edits) (device.Work, error) {
	g := p.sched.Graph
	l := g.Ops[id].Launch
	f, err := p.functions.get(l.Module, l.Entry)
	if err != nil {
		return nil, err
	}
	priority := 0
	if p.sched.Priority != nil {
		priority = int(p.sched.Priority[id])
	}
	var label string
	if was, lowered := p.work[id].(*device.Launch); lowered {
		label = was.Label
	} else {
		label = parts.OpName(g, id)
	}
	return &device.Launch{
		Function: f,
		Grid:     device.Dim3(s.gridOf(id, l)),
		Block:    device.Dim3(l.Block),
		Shared:   l.Shared,
		Params:   s.pack(g, l),
		Priority: priority,
		Off:      s.isOff(id),
		Label:    label,
	}, nil
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
