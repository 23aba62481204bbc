package graphexec_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// ExampleInstantiate plans a trace as a graph, and replays it three times with one call.
func ExampleInstantiate() {
	dev, err := sim.New(sim.Options{})
	ok(err)
	defer dev.Close()
	square, _ := kernels.Lookup("square") // y[i] = x[i] * x[i]

	t := tracer.New(dev, "squares", tracer.Deferred)
	kernel := t.Module("square.ptx", square.PTX).Kernel("square")
	x := t.Alloc("x", ir.F32, 2, ir.InOut)
	t.Launch(kernel, tracer.Linear(1, 32), x, x, 2)
	trace, err := t.Finish()
	ok(err)
	defer trace.Close()

	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	ok(err)
	exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, graphexec.Graph)
	ok(err)
	defer exec.Close()

	data := []float32{2, 3}
	ok(tracer.Write(x, data))
	ok(exec.ReplayN(context.Background(), 3))
	ok(exec.Wait(context.Background()))
	ok(tracer.Read(data, x))
	fmt.Println(data)
	// Output: [256 6561]
}

func ok(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
