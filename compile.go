package reprise

import (
	"fmt"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Options select how a trace is planned and replayed. The zero value plans by the default strategy and replays as a graph.
//
// The strategies are serial, roundrobin, levels, grcuda, nimble, mincover, coloring, listsched, search and auto.
// [optimizer.Strategies] describes them and their parameters, which follow in parentheses: "roundrobin(8)".
type Options struct {
	Strategy string   // assigns operations to streams; "" is "nimble"
	Also     []string // additional passes, such as "memplan"; see optimizer.Passes
	Streams  bool     // replay over streams and events instead of as a graph
	Frozen   bool     // no Enable and Grid will change the replays: strategy "auto" may merge launches; see optimizer.Options
}

func (o Options) backend() graphexec.Backend {
	if o.Streams {
		return graphexec.Streams
	}
	return graphexec.Graph
}

// plan plans a trace for a device.
func (o Options) plan(dev Device, trace *Trace) (*optimizer.Result, error) {
	if trace == nil || trace.Graph == nil {
		return nil, absent.Error("the trace is nil or zero: pass what Finish returns")
	}
	return optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: o.Strategy, Also: o.Also, Streams: o.Streams, Frozen: o.Frozen})
}

// Compile plans a trace and prepares it for replay on dev, which must be the device it was recorded on. Close the result
// before the trace.
//
// A strategy that compares predicted times, such as "auto", uses measured costs if the device counts the work of
// launches, as a simulated one does, and if all inputs have been written. Compile then runs the trace twice and restores
// its memory. Otherwise the times of kernels are estimated (see [optimizer.PlanOn]).
func Compile(dev Device, trace *Trace, o Options) (*Exec, error) {
	exec, _, err := o.compile(dev, trace)
	return exec, err
}

// compile is Compile. It also returns the size of the memory of the replays on the device, in bytes.
func (o Options) compile(dev Device, trace *Trace) (exec *Exec, bytes int64, err error) {
	plan, err := o.plan(dev, trace)
	if err != nil {
		return nil, 0, fmt.Errorf("compile: %w", err)
	}
	exec, err = graphexec.Instantiate(dev, plan.Schedule, trace, o.backend())
	_, bytes = plansize.BytesOf(plan.Schedule)
	return exec, bytes, err
}

// LoopOptions select how the iterations of a loop are planned and how often its condition is checked. The zero value
// checks it after every iteration.
type LoopOptions struct {
	Options
	CheckEvery int // iterations between two checks of the condition; 0 means 1
}

// CompileLoop prepares a loop whose body is a trace. The loop runs until the condition until holds, or maxIterations
// times, of which 0 runs none. The condition is evaluated by the host, or by the GPU in a while node, whichever is
// predicted to be quicker on dev.
//
//	until := reprise.Until{Buffer: residual.ID(), Is: reprise.Below, Value: 1e-6}
//	solve, err := reprise.CompileLoop(dev, trace, until, 10000, reprise.LoopOptions{})
//	result, err := solve.Run(ctx)                      // returns when the loop has ended
//	converged := result.Ending == reprise.Met          // reprise.Exhausted is no error
func CompileLoop(dev Device, trace *Trace, until Until, maxIterations int, o LoopOptions) (*LoopExec, error) {
	plan, err := o.plan(dev, trace)
	if err != nil {
		return nil, fmt.Errorf("compile loop: %w", err)
	}
	l := loop.Loop{Body: plan.Schedule, Until: until, MaxIterations: maxIterations, CheckEvery: o.CheckEvery, Backend: o.backend()}
	return loop.Instantiate(dev, l, trace)
}
