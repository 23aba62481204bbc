package reprise

import (
	"fmt"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Options say how a trace is planned and replayed. The zero value is a plan by the default strategy, replayed as a graph.
type Options struct {
	Strategy string   // which operations share a stream; "" is "nimble", and optimizer.Strategies lists all
	Also     []string // passes to run besides, as "memplan"; optimizer.Passes lists all
	Streams  bool     // replay over streams and events instead of as a graph
}

func (o Options) backend() graphexec.Backend {
	if o.Streams {
		return graphexec.Streams
	}
	return graphexec.Graph
}

// plan plans a trace for a device.
func (o Options) plan(dev Device, trace *Trace) (*optimizer.Result, error) {
	if trace == nil {
		return nil, absent.Nil("the trace to compile")
	}
	return optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: o.Strategy, Also: o.Also, Streams: o.Streams})
}

// Compile plans a trace and makes it ready for replays on dev, the device that it was recorded on. Close the result
// before the trace.
//
// A strategy that chooses by time, as "auto", goes by what launches ask of the device, if all inputs have been written before and the
// device counts it, as a simulated one does. Compile then runs the trace twice and puts its memory back. Otherwise the times of
// kernels are estimated (see [optimizer.PlanOn]).
func Compile(dev Device, trace *Trace, o Options) (*Exec, error) {
	plan, err := o.plan(dev, trace)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return graphexec.Instantiate(dev, plan.Schedule, trace, o.backend())
}

// LoopOptions say how the iterations of a loop are planned and how often its end is looked for. The zero value looks after
// each.
type LoopOptions struct {
	Options
	CheckEvery int // iterations between two looks at the scalar that ends the loop; 0 is 1
}

// CompileLoop makes a loop whose body is a trace: it runs until the scalar says stop, or maxIterations times. Whether the
// host looks at the scalar, or the GPU itself in a while node, is chosen by what is quickest on dev.
func CompileLoop(dev Device, trace *Trace, until Until, maxIterations int, o LoopOptions) (*LoopExec, error) {
	plan, err := o.plan(dev, trace)
	if err != nil {
		return nil, fmt.Errorf("compile loop: %w", err)
	}
	loop := graphexec.Loop{Body: plan.Schedule, Until: until, MaxIterations: maxIterations, CheckEvery: o.CheckEvery, Backend: o.backend()}
	return graphexec.InstantiateLoop(dev, loop, trace)
}
