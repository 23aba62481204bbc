package shares

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/timings"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Program is one of a pair: a trace, a program of operations or a solver.
type Program struct {
	Name   string
	trace  *Trace
	saved  *tenants.Program
	solved *solved
	gap    time.Duration // behind a request of saved and solved
}

// OfTrace returns the program that replays a trace.
func OfTrace(t *Trace) Program { return Program{Name: t.Name, trace: t} }

// OfProgram returns a program of operations, which is one stage: a workload or a saved graph. The host works for a time
// behind each request.
func OfProgram(p tenants.Program, gap time.Duration) Program {
	return Program{Name: p.Name, saved: &p, gap: gap}
}

// Checked reports whether the program has results.
func (p *Program) Checked() bool { return p.trace == nil }

// instance is a program on a device.
type instance struct {
	name   string
	dev    device.Device
	stages []stage
	reset  func() error // writes the inputs; nil for a trace
	check  func() error // compares the results with what is expected; nil for a trace
	close  func() error
}

// stage is the operations between two places at which the host waits: a list of them, or a graph that is planned.
type stage struct {
	ops     []op
	planned *planned
	gap     time.Duration // host time after it
}

// planned is a graph, and the program that binds it to the device.
type planned struct {
	program traced.Program
	graph   *ir.Graph
}

// known returns what earlier measurements state about the stages: the gaps behind the replays of their graphs.
func (in *instance) known(t *timings.Timings) []sharing.Stage {
	if t == nil {
		return nil
	}
	known := make([]sharing.Stage, len(in.stages))
	for i := range in.stages {
		if p := in.stages[i].planned; p != nil {
			known[i].Gaps = t.Gap(timings.Gap{Program: signature.Of(p.graph)})
		}
	}
	return known
}

// openTrace makes an instance of a trace. short replaces all kernels by the shortest.
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

// openSaved makes an instance of one stage, whose form builder.build makes from the graph.
func openSaved(dev device.Device, p *tenants.Program, gap time.Duration) (*instance, error) {
	made, err := p.New(dev, 1, 1)
	if err != nil {
		return nil, err
	}
	if bench.Control(made.Graph) > 0 {
		return nil, device.Join(errors.New("loops and branches are not shared, since the programs run on a device that computes no values: use a program without them"), made.Close())
	}
	one := stage{planned: &planned{made.Bound, made.Graph}, gap: gap}
	return &instance{name: p.Name, dev: dev, stages: []stage{one}, reset: made.Reset, check: made.Check, close: made.Close}, nil
}

// bound returns the resource that limits an operation, if it is known.
func (o *op) resource() sharing.Bound {
	if _, launch := o.work.(*device.Launch); !launch {
		return sharing.Memory
	}
	return o.bound
}
