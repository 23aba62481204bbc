package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// program is a schedule with every operation as device work.
type program struct {
	sched *ir.Schedule
	work  []device.Work // by operation
	slots [][]slot      // by parameter: where its value sits
}

// slot is a place in a parameter block that holds a replay parameter.
type slot struct {
	op     ir.OpID
	offset int
}

func lower(dev device.Device, s *ir.Schedule, b Bindings) (*program, error) {
	g := s.Graph
	p := &program{
		sched: s,
		work:  make([]device.Work, g.Len()),
		slots: make([][]slot, len(g.Params)),
	}
	functions := functionCache{dev: dev, b: b, seen: map[functionKey]device.Function{}}
	for i := range g.Ops {
		id := ir.OpID(i)
		w, err := p.lowerOp(id, &functions, b)
		if err != nil {
			return nil, opError(g, id, err)
		}
		p.work[id] = w
	}
	return p, nil
}

func (p *program) lowerOp(id ir.OpID, functions *functionCache, b Bindings) (device.Work, error) {
	g := p.sched.Graph
	op := &g.Ops[id]
	switch op.Kind {
	case ir.KindLaunch:
		return p.lowerLaunch(id, functions, b)
	case ir.KindCopy:
		c := op.Copy
		if c.Dst.Empty() {
			return device.Nothing{}, nil
		}
		return &device.Copy{Dst: address(b, c.Dst), Src: address(b, c.Src), Bytes: c.Dst.Hi - c.Dst.Lo, Label: opName(g, id)}, nil
	case ir.KindMemset:
		m := op.Memset
		if m.Dst.Empty() {
			return device.Nothing{}, nil
		}
		width := m.Value.Type.Size()
		return &device.Memset{Dst: address(b, m.Dst), Value: uint32(m.Value.Bits), Width: int(width), Count: (m.Dst.Hi - m.Dst.Lo) / width, Label: opName(g, id)}, nil
	case ir.KindPrefetch:
		p := op.Prefetch
		if p.Range.Empty() {
			return device.Nothing{}, nil
		}
		return &device.Prefetch{At: address(b, p.Range), Bytes: p.Range.Hi - p.Range.Lo, ToDevice: p.ToDevice, Label: opName(g, id)}, nil
	case ir.KindHost:
		f := b.HostFunc(g.Traced(id))
		if f == nil {
			return nil, fmt.Errorf("no host function is bound: a trace read from a file must be given one")
		}
		return &device.HostCall{Func: f, Label: opName(g, id), Uses: hostUses(op, b)}, nil
	}
	return device.Nothing{}, nil
}

func hostUses(op *ir.Op, b Bindings) []device.HostUse {
	var uses []device.HostUse
	for _, a := range op.Uses {
		uses = append(uses, device.HostUse{
			Ptr: address(b, a.Range), Bytes: a.Range.Hi - a.Range.Lo,
			Read: a.Mode.Reads(), Write: a.Mode.Writes(),
		})
	}
	return uses
}

func (p *program) lowerLaunch(id ir.OpID, functions *functionCache, b Bindings) (device.Work, error) {
	l := p.sched.Graph.Ops[id].Launch
	f, err := functions.get(l.Module, l.Entry)
	if err != nil {
		return nil, err
	}
	priority := 0
	if s := p.sched; s.Priority != nil {
		priority = int(s.Priority[id])
	}
	return &device.Launch{
		Function: f,
		Grid:     device.Dim3(l.Grid),
		Block:    device.Dim3(l.Block),
		Shared:   l.Shared,
		Params:   p.packParams(id, b),
		Priority: priority,
		Label:    opName(p.sched.Graph, id),
	}, nil
}

// packParams builds the parameter block and notes where replay parameters sit.
func (p *program) packParams(id ir.OpID, b Bindings) []byte {
	l := p.sched.Graph.Ops[id].Launch
	block, offsets := p.sched.Graph.ParamBlock(l, func(buf ir.BufferID) uint64 { return uint64(b.Pointer(buf)) })
	for i, a := range l.Args {
		if a.Kind == ir.ArgParam {
			p.slots[a.Param] = append(p.slots[a.Param], slot{id, offsets[i]})
		}
	}
	return block
}

func address(b Bindings, r ir.Range) device.Ptr {
	return b.Pointer(r.Buffer) + device.Ptr(r.Lo)
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

// opName is what errors call an operation: "%3 square at vec.go:41".
func opName(g *ir.Graph, id ir.OpID) string {
	op := &g.Ops[id]
	name := op.Label
	if op.Kind == ir.KindLaunch {
		name = op.Launch.Entry
	}
	if name == "" {
		name = op.Kind.String()
	}
	if op.Pos.IsZero() {
		return fmt.Sprintf("%v %s", id, name)
	}
	return fmt.Sprintf("%v %s at %s:%d", id, name, op.Pos.File, op.Pos.Line)
}

func opError(g *ir.Graph, id ir.OpID, err error) error {
	return fmt.Errorf("%s: %w", opName(g, id), err)
}
