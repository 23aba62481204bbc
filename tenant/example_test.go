package tenant_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/tenant"
)

// Three tenants run the same program, each on a vector of its own.
func Example() {
	dev, err := reprise.Open("sim")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	square, _ := kernels.Lookup("square")
	var traces []*reprise.Trace
	var results []reprise.Buffer
	for i := range 3 {
		t := reprise.Record(dev, fmt.Sprint("tenant ", i))
		x := t.Alloc("x", reprise.F32, 256, reprise.Input)
		y := t.Alloc("y", reprise.F32, 256, reprise.Output)
		t.Launch(t.Module(square.File, square.PTX).Kernel("square"), reprise.Linear(1, 256), x, y, 256)
		trace, err := t.Finish()
		if err != nil {
			log.Fatal(err)
		}
		values := make([]float32, 256)
		for k := range values {
			values[k] = float32(i + 2)
		}
		if err := reprise.Write(x, values); err != nil {
			log.Fatal(err)
		}
		traces, results = append(traces, trace), append(results, y)
	}

	pool, err := tenant.NewPool(dev, tenant.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, trace := range traces {
		one, err := pool.Add(trace)
		if err != nil {
			log.Fatal(err)
		}
		if err := one.Submit(context.Background(), 10*time.Millisecond); err != nil { // from a goroutine of its own, usually
			log.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil {
		log.Fatal(err)
	}
	for i, y := range results {
		values := make([]float32, 256)
		if err := reprise.Read(values, y); err != nil {
			log.Fatal(err)
		}
		fmt.Println(i, values[0])
	}
	// Output:
	// 0 4
	// 1 9
	// 2 16
}
