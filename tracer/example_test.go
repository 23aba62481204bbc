package tracer_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/tracer"
)

// Example records a copy and a launch. The accesses of the launch follow from the PTX.
func Example() {
	dev, err := sim.New(sim.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	square, _ := kernels.Lookup("square") // y[i] = x[i] * x[i]

	t := tracer.New(dev, "squares", tracer.Deferred)
	kernel := t.Module("square.ptx", square.PTX).Kernel("square")
	x := t.Alloc("x", ir.F32, 64, ir.Input)
	y := t.Alloc("y", ir.F32, 64, ir.Temporary)
	z := t.Alloc("z", ir.F32, 64, ir.Output)
	t.Launch(kernel, tracer.Linear(1, 64), x, y, 64)
	t.Copy(z, y)
	trace, err := t.Finish()
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()

	for _, access := range trace.Graph.Ops[0].Uses {
		fmt.Printf("the launch %ss @%s\n", access.Mode, trace.Graph.Buffers[access.Buffer].Name)
	}
	// Output:
	// the launch reads @x
	// the launch writes @y
}
