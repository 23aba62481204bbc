// First traces two launches, replays them 628 times with one call, and checks the result.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise"
)

//go:embed axpy.ptx
var axpy string // y[i] += a*x[i], for i < n: what nvcc -ptx makes of axpy.cu

const n = 4096

func main() {
	dev := must(reprise.Open("sim")) // a simulated H200; "gpu0" is a GPU
	defer dev.Close()

	// Record: two launches, whose dependencies follow from the PTX.
	t := reprise.Record(dev, "circle")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	x := t.Alloc("x", reprise.F32, n, reprise.InOut)
	y := t.Alloc("y", reprise.F32, n, reprise.InOut)
	step := t.Param("step", reprise.F32, 0.01)                            // may change between replays
	t.Launch(kernel, reprise.Linear(n/256, 256), x, y, step, n)           // x += step * y
	t.Launch(kernel, reprise.Linear(n/256, 256), y, x, float32(-0.01), n) // y -= 0.01 * x
	trace := must(t.Finish())
	defer trace.Close()

	// Compile: plan the streams, make a CUDA graph of the plan.
	exec := must(reprise.Compile(dev, trace, reprise.Options{}))
	defer exec.Close()

	// Replay: once around the circle, in steps of 0.01.
	data := make([]float32, n)
	check(reprise.Write(y, data))
	for i := range data {
		data[i] = 1
	}
	check(reprise.Write(x, data))
	check(exec.ReplayN(context.Background(), 628))
	check(exec.Wait(context.Background()))
	check(reprise.Read(data, x))
	fmt.Printf("x is %.3f again\n", data[n-1])
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
