package loop_test

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

func squarePTX() string {
	k, _ := kernels.Lookup("square")
	return k.PTX
}

func mustPlan(t *tracer.Tracer) (*tracer.Trace, *ir.Schedule) {
	trace, err := t.Finish()
	if err != nil {
		panic(err)
	}
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	if err != nil {
		panic(err)
	}
	return trace, plan.Schedule
}

// ExampleLoop squares numbers until they are small.
func ExampleLoop() {
	dev, err := sim.New(sim.Options{})
	if err != nil {
		panic(err)
	}
	// Trace one iteration: x = x·x for numbers below 1.
	t := tracer.New(dev, "squares", tracer.Deferred)
	square := t.Module("square.ptx", squarePTX()).Kernel("square")
	x := t.Alloc("x", ir.F32, 4, ir.InOut)
	y := t.Alloc("y", ir.F32, 4, ir.Temporary)
	t.Launch(square, tracer.Linear(1, 32), x, y, 4)
	t.Copy(x, y)
	trace, body := mustPlan(t)

	// Repeat it until the first of them is below 1e-6.
	loopExec, err := loop.Instantiate(dev, loop.Loop{
		Body:          body,
		Until:         loop.Until{Buffer: x.ID(), Is: ir.Below, Value: 1e-6},
		MaxIterations: 1000,
	}, trace)
	if err != nil {
		panic(err)
	}
	_ = tracer.Write(x, []float32{0.9, 0.8, 0.7, 0.6})
	result, err := loopExec.Run(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v after %d iterations, %d looks of the host\n", result.Ending, result.Iterations, loopExec.Stats().Checks)
	if err := device.Join(loopExec.Close(), trace.Close(), dev.Close()); err != nil {
		panic(err)
	}
	// Output:
	// met after 8 iterations, 1 looks of the host
}
