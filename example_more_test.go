package reprise_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// interest records y += rate*y on a buffer of one element.
func interest(t *reprise.Tracer, rate any) reprise.Buffer {
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	y := t.Alloc("y", reprise.F32, 1, reprise.InOut)
	t.Launch(kernel, reprise.Linear(1, 32), y, y, rate, 1)
	return y
}

// A scalar changes between two replays, without a new graph.
func ExampleCompile() {
	ctx := context.Background()
	dev, err := reprise.Open("sim:a100")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	y := interest(t, t.Param("rate", reprise.F32, 1))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	exec, err := reprise.Compile(dev, trace, reprise.Options{Streams: true}) // streams and events instead of a graph
	check(err)
	defer exec.Close()
	check(reprise.Write(y, []float32{1}))
	check(exec.ReplayN(ctx, 3)) // 1, 2, 4, 8
	check(exec.Set("rate", float32(0.5)))
	check(exec.Replay(ctx)) // 12
	check(exec.Wait(ctx))

	result := make([]float32, 1)
	check(reprise.Read(result, y))
	fmt.Println(result[0])
	// Output: 12
}

// A loop ends when a scalar on the device says so.
func ExampleCompileLoop() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	y := interest(t, float32(0.01))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	until := reprise.Until{Buffer: y.ID(), Is: reprise.AtLeast, Value: 2}
	loop, err := reprise.CompileLoop(dev, trace, until, 1000, reprise.LoopOptions{})
	check(err)
	defer loop.Close()
	check(reprise.Write(y, []float32{1}))
	result, err := loop.Run(context.Background())
	check(err)
	fmt.Printf("doubled after %d iterations\n", result.Iterations) // 70
	// Output: doubled after 70 iterations
}

// Auto runs each call at once, and replays what repeats from the third repetition on.
func ExampleAuto() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Auto(dev, "circle")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	x := t.Alloc("x", reprise.F32, 256, reprise.InOut)
	y := t.Alloc("y", reprise.F32, 256, reprise.InOut)
	for range 100 {
		t.Launch(kernel, reprise.Linear(1, 256), x, y, float32(0.01), 256) // runs at once
		t.Launch(kernel, reprise.Linear(1, 256), y, x, float32(-0.01), 256)
	}
	t.Synchronize()
	check(t.Err())
	stats := reprise.AutoStats(t)
	fmt.Printf("%d of %d launches were replayed\n", stats.Replayed, stats.Calls) // 196 of 200
	// Output: 196 of 200 launches were replayed
}

// A loop in the middle of a program is one operation of its trace.
func Example_recordedLoop() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	y := t.Alloc("y", reprise.F32, 1, reprise.InOut)
	doubled := t.Alloc("doubled", reprise.F32, 1, reprise.Output)
	t.Loop(y, reprise.AtLeast, 2, reprise.Limits{Iterations: 1000}, func() {
		t.Launch(kernel, reprise.Linear(1, 32), y, y, float32(0.25), 1) // y += y/4
	})
	t.Copy(doubled, y)
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()
	check(reprise.Write(y, []float32{1}))
	check(exec.Replay(ctx))
	check(exec.Wait(ctx))
	result := make([]float32, 1)
	check(reprise.Read(result, doubled))
	fmt.Println(result[0])
	// Output: 2.4414062
}

// A saved program runs without the code that recorded it, in Go or in the tool: reprise run interest.rir.
func Example_savedTrace() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "saved")
	check(err)
	defer os.RemoveAll(dir)
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	y := interest(t, t.Param("rate", reprise.F32, 1))
	trace, err := t.Finish()
	check(err)
	check(reprise.Write(y, []float32{1}))

	file := filepath.Join(dir, "interest.rir")
	check(trace.Save(file, reprise.SaveOptions{Contents: true}))
	check(trace.Close())

	saved, err := reprise.Load(dev, file)
	check(err)
	defer saved.Close()
	exec, err := reprise.Compile(dev, saved, reprise.Options{})
	check(err)
	defer exec.Close()
	check(exec.ReplayN(ctx, 3)) // 1, 2, 4, 8
	y, err = saved.Buffer("y")
	check(err)
	fmt.Println(first(y))
	// Output: 8
}

// A plan can be computed without being compiled, and printed.
func Example_schedule() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	interest(t, float32(0.01))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	plan, err := optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: "auto"})
	check(err)
	schedule := ir.PrintSchedule(plan.Schedule)
	fmt.Println("on stream 0:", strings.Contains(schedule, "%0 lane(0)"))
	// Output: on stream 0: true
}

// Two operations on different memory are ordered by hand.
func ExampleOp() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "ordered")
	first := t.Memset(t.Alloc("x", reprise.F32, 64, reprise.Output), float32(1)).Named("first")
	t.Memset(t.Alloc("y", reprise.F32, 64, reprise.Output), float32(2)).After(first)
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "levels"})
	check(err)
	for _, d := range plan.Graph.Deps() {
		fmt.Printf("%v waits for %v: %v\n", d.To, d.From, d.Hazard)
	}
	// Output: %1 waits for %0: after
}

// A checked device finds a read of memory that the program forgot to write.
func ExampleOpenChecked() {
	ctx := context.Background()
	dev, err := reprise.OpenChecked("sim:a100")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	interest(t, float32(0.01))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()
	check(exec.Replay(ctx))
	err = exec.Wait(ctx) // uninitialised read: bytes 0-3 of @y, with the launch, the thread and the PTX line
	fmt.Println(strings.Contains(err.Error(), "uninitialised read: bytes 0-3 of @y"))
	// Output: true
}
