package shares

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Program is one of a pair.
type Program struct {
	Name  string
	trace *Trace
	saved *tenants.Program
}

// OfTrace returns the program that replays a trace.
func OfTrace(t *Trace) Program { return Program{Name: t.Name, trace: t} }

// OfProgram returns a program of operations, which is one stage: a workload or a saved graph.
func OfProgram(p tenants.Program) Program { return Program{Name: p.Name, saved: &p} }

// Checked reports whether the program has results.
func (p *Program) Checked() bool { return p.saved != nil }

// instance is a program on a device.
type instance struct {
	name   string
	dev    device.Device
	stages []stage
	reset  func() error // writes the inputs; nil for a trace
	check  func() error // compares the results with what is expected; nil for a trace
	close  func() error
}

// stage is the operations between two places at which the host waits.
type stage struct {
	ops []op
	gap time.Duration // host time after it
}

// open makes an instance. The spinner is for traces. short replaces all kernels of a trace by the shortest.
func (p *Program) open(dev device.Device, s *spinner, short bool) (*instance, error) {
	if p.trace != nil {
		return openTrace(dev, s, p.trace, short)
	}
	return openSaved(dev, p.saved)
}

func openTrace(dev device.Device, s *spinner, t *Trace, short bool) (*instance, error) {
	in := &instance{name: t.Name, dev: dev, stages: []stage{{}}, close: func() error { return nil }}
	for i := range t.Kernels {
		k := t.Kernels[i]
		if short {
			k.Blocks, k.Time = 1, time.Nanosecond
		}
		o, err := s.op(&k)
		if err != nil {
			return nil, fmt.Errorf("%s: kernel %d, %s: %w", t.Name, i, k.Name, err)
		}
		last := &in.stages[len(in.stages)-1]
		if n := len(last.ops); n > 0 {
			o.deps = []int{n - 1}
		}
		last.ops = append(last.ops, o)
		if last.gap = k.Gap; k.Gap > 0 && i+1 < len(t.Kernels) {
			in.stages = append(in.stages, stage{})
		}
	}
	return in, nil
}

// values resolves the buffers and parameters of a program.
type values struct{ *tenants.Instance }

func (v values) Address(b ir.BufferID) device.Ptr { return v.Bound.Pointer(b) }
func (v values) Value(p ir.ParamID) ir.Scalar     { return v.Graph.Params[p].Value }

func openSaved(dev device.Device, p *tenants.Program) (*instance, error) {
	made, err := p.New(dev, 1, 1)
	if err != nil {
		return nil, err
	}
	in := &instance{name: p.Name, dev: dev, reset: made.Reset, check: made.Check}
	l := &loader{dev: dev, in: made, parts: map[partKey]*ranged{}}
	in.close = func() error { return device.Join(l.close(), made.Close()) }
	ops, err := l.ops()
	if err != nil {
		return nil, device.Join(err, in.close())
	}
	in.stages = []stage{{ops: ops}}
	return in, nil
}

// loader makes the operations of a program.
type loader struct {
	dev     device.Device
	in      *tenants.Instance
	parts   map[partKey]*ranged // nil for kernels that cannot be cut
	modules []device.Module
}

type partKey struct {
	module ir.ModuleID
	entry  string
	dims   int
}

func (l *loader) close() error {
	var errs []error
	for _, m := range l.modules {
		errs = append(errs, l.dev.UnloadModule(m))
	}
	return device.Join(errs...)
}

// ops lowers the operations, with the dependencies that others do not imply.
func (l *loader) ops() ([]op, error) {
	for b := range l.in.Graph.Buffers {
		if err := l.in.Bound.Allocate(ir.BufferID(b)); err != nil {
			return nil, err
		}
	}
	planned, err := optimizer.Plan(l.in.Graph, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	g := planned.Reduced
	all := make([]op, g.Len())
	for i := range g.Ops {
		if all[i], err = l.op(&g.Ops[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		for _, d := range g.DepsInto(ir.OpID(i)) {
			all[i].deps = append(all[i].deps, int(d.From))
		}
	}
	return all, nil
}

func (l *loader) op(i *ir.Op) (o op, err error) {
	s := lower.Settings{Label: i.Label}
	switch i.Kind {
	case ir.KindLoop, ir.KindBranch, ir.KindHost:
		return o, fmt.Errorf("a %v cannot be cut from its program: use a program of launches, copies and fills", i.Kind)
	case ir.KindLaunch:
		if s.Function, err = l.dev.Function(l.in.Bound.Module(i.Launch.Module), i.Launch.Entry); err != nil {
			return o, err
		}
		if o.part, err = l.part(i.Launch); err != nil {
			return o, err
		}
	}
	o.work = lower.Work(i, &s, values{l.in})
	return o, nil
}

// part returns the form of a kernel that runs a range of blocks, nil if there is none.
func (l *loader) part(launch *ir.Launch) (*ranged, error) {
	key := partKey{launch.Module, launch.Entry, dims(launch.Grid)}
	if p, ok := l.parts[key]; ok {
		return p, nil
	}
	l.parts[key] = nil
	module := &l.in.Graph.Modules[launch.Module]
	parsed, err := ptx.Parse(module.File, module.Source)
	if err != nil {
		return nil, nil // the device has loaded it, perhaps in another form than PTX
	}
	p, m, err := loadRange(l.dev, parsed, launch.Entry, key.dims)
	if device.CodeOf(err) != 0 {
		return nil, err
	}
	if err != nil {
		return nil, nil // refused: the kernel runs whole
	}
	l.modules = append(l.modules, m)
	for _, v := range p.result.Variables {
		if v.Written {
			return nil, nil
		}
	}
	l.parts[key] = p
	return p, nil
}

func dims(g ir.Dim3) int {
	switch {
	case g.Z > 1:
		return 3
	case g.Y > 1:
		return 2
	}
	return 1
}

// bound returns the resource that limits an operation, if it is known.
func (o *op) resource() sharing.Bound {
	if _, launch := o.work.(*device.Launch); !launch {
		return sharing.Memory
	}
	return o.bound
}
