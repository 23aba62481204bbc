package shares

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/timings"
)

// Program is one of a pair.
type Program struct {
	Name  string
	trace *Trace
	saved *tenants.Program
	gap   time.Duration // behind a request of saved
}

// OfTrace returns the program that replays a trace.
func OfTrace(t *Trace) Program { return Program{Name: t.Name, trace: t} }

// OfProgram returns a program of operations, which is one stage: a workload or a saved graph. The host works for a time
// behind each request.
func OfProgram(p tenants.Program, gap time.Duration) Program {
	return Program{Name: p.Name, saved: &p, gap: gap}
}

// Checked reports whether the program has results.
func (p *Program) Checked() bool { return p.saved != nil }

// instance is a program on a device.
type instance struct {
	name   string
	dev    device.Device
	stages []stage
	made   *tenants.Instance // nil for a trace
	reset  func() error      // writes the inputs; nil for a trace
	check  func() error      // compares the results with what is expected; nil for a trace
	close  func() error
}

// stage is the operations between two places at which the host waits.
type stage struct {
	ops []op
	gap time.Duration // host time after it
}

// known returns what earlier measurements state about the stages: the gaps behind the replays of a program of operations.
func (in *instance) known(t *timings.Timings) []sharing.Stage {
	if in.made == nil || t == nil {
		return nil
	}
	return []sharing.Stage{{Gaps: t.Gap(timings.Gap{Program: signature.Of(in.made.Graph)})}}
}

// open makes an instance. The spinner is for traces. short replaces all kernels of a trace by the shortest.
func (p *Program) open(dev device.Device, s *spinner, short bool) (*instance, error) {
	if p.trace != nil {
		return openTrace(dev, s, p.trace, short)
	}
	return openSaved(dev, p.saved, p.gap)
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

// openSaved makes an instance of one stage, whose form builder.build makes from the graph.
func openSaved(dev device.Device, p *tenants.Program, gap time.Duration) (*instance, error) {
	made, err := p.New(dev, 1, 1)
	if err != nil {
		return nil, err
	}
	return &instance{name: p.Name, dev: dev, stages: []stage{{gap: gap}}, made: made, reset: made.Reset, check: made.Check, close: made.Close}, nil
}

// bound returns the resource that limits an operation, if it is known.
func (o *op) resource() sharing.Bound {
	if _, launch := o.work.(*device.Launch); !launch {
		return sharing.Memory
	}
	return o.bound
}
