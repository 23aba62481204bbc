package auto_test

import (
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// A program without any code for graphs squares numbers repeatedly, back and forth between two buffers. Package auto
// replays it as a graph.
func Example() {
	dev, err := sim.New(sim.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	t := auto.New(dev, "squares", auto.Options{})
	square, _ := kernels.Lookup("square")
	k := t.Module(square.File, square.PTX).Kernel("square")
	from := t.Alloc("from", ir.F32, 4, ir.InOut)
	to := t.Alloc("to", ir.F32, 4, ir.InOut)
	if err := tracer.Write(from, []float32{1, 0.5, -1, 0}); err != nil {
		log.Fatal(err)
	}

	for range 100 {
		t.Launch(k, tracer.Linear(1, 32), from, to, 4)
		t.Memset(from, 0)
		from, to = to, from
	}

	result := make([]float32, 4)
	if err := tracer.Read(result, from); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result)
	s := auto.StatsOf(t)
	fmt.Printf("%d of %d calls in %d replays\n", s.Replayed, s.Calls, s.Replays)
	trace, err := t.Finish()
	if err != nil {
		log.Fatal(err)
	}
	if err := trace.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [1 0 1 0]
	// 196 of 200 calls in 49 replays
}
