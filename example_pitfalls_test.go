package reprise_test

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/graphexec"
)

// The value of a Go variable is recorded, not the variable.
func Example_frozenScalar() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()

	rate := float32(1)
	t := reprise.Record(dev, "interest")
	y := interest(t, rate) // a parameter instead: interest(t, t.Param("rate", reprise.F32, 1))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()
	check(reprise.Write(y, []float32{1}))

	rate = 0 // changes nothing
	check(exec.Replay(ctx))
	fmt.Println("rate", rate, "and y", first(y))
	fmt.Println(exec.Set("rate", rate))
	// Output:
	// rate 0 and y 2
	// no parameter $rate: the trace declares none; declare it with Tracer.Param
}

// Go variables that exchange buffers do not exchange them in the graph.
func Example_staleBuffer() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "ping-pong")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	x := t.Alloc("x", reprise.F32, 1, reprise.InOut)
	y := t.Alloc("y", reprise.F32, 1, reprise.InOut)
	t.Launch(kernel, reprise.Linear(1, 32), y, x, float32(1), 1) // y += x
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()
	check(reprise.Write(x, []float32{1}))
	check(reprise.Write(y, []float32{10}))

	from, to := x, y
	check(exec.Replay(ctx)) // y is 11
	from, to = to, from     // changes nothing in the graph
	check(exec.Replay(ctx)) // y is 12, and not x
	fmt.Println("from", first(from), "to", first(to))

	check(exec.Apply(graphexec.Swap("x", "y"))) // x and y exchange their memory: x is 12, y is 1
	check(exec.Replay(ctx))                     // y is 13
	fmt.Println("x", first(x), "y", first(y))
	// Output:
	// from 12 to 1
	// x 12 y 13
}

// A read between recorded calls returns what was there before: nothing has run.
func Example_hostReadInATrace() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	y := t.Alloc("y", reprise.F32, 1, reprise.InOut)
	check(reprise.Write(y, []float32{1}))
	t.Launch(kernel, reprise.Linear(1, 32), y, y, float32(1), 1) // y += y

	if first(y) < 2 { // 1: the launch is recorded, and has not run. The decision is made now, for all replays
		t.Memset(y, float32(0))
	}
	// A decision of each replay: t.Branch(y, reprise.Below, 2, func() { t.Memset(y, float32(0)) }, nil)
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()
	check(exec.Replay(ctx))
	fmt.Println(first(y))
	// Output: 0
}

// total adds the elements of x to a sum in the order in which the threads arrive.
const total = `
.version 7.0
.target sm_52
.address_size 64
.visible .entry total(.param .u64 sum, .param .u64 x) {
	.reg .f32 %f; .reg .b32 %r<4>; .reg .b64 %d<4>;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [sum];
	mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d1, %d3;
	ld.global.f32 %f, [%d3]; red.global.add.f32 [%d2], %f; ret;
}`

// The sum of floating-point numbers depends on the order of the additions.
func Example_floatAtomics() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "total")
	x := t.Alloc("x", reprise.F32, 96, reprise.Input)
	sum := t.Alloc("sum", reprise.F32, 1, reprise.Output)
	t.Memset(sum, float32(0))
	t.Launch(t.Module("total.ptx", total).Kernel("total"), reprise.Linear(3, 32), sum, x)
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()

	// Each block adds 32 times the same number. The order of the blocks is not defined on a GPU.
	for _, blocks := range [][3]float32{{1e8, 1, -1e8}, {1e8, -1e8, 1}} {
		data := make([]float32, 96)
		for i := range data {
			data[i] = blocks[i/32]
		}
		check(reprise.Write(x, data))
		check(exec.Replay(ctx))
		fmt.Println(first(sum))
	}
	// Output:
	// 0
	// 32
}

// random draws a number in [0, 1) and advances the generator, whose state is in device memory.
const random = `
.version 7.0
.target sm_52
.address_size 64
.visible .entry random(.param .u64 out, .param .u64 state) {
	.reg .b32 %r<4>; .reg .f32 %f; .reg .b64 %d<3>;
	ld.param.u64 %d1, [state]; ld.param.u64 %d2, [out];
	ld.global.u32 %r1, [%d1]; mad.lo.u32 %r1, %r1, 1664525, 1013904223;
	st.global.u32 [%d1], %r1; shr.u32 %r2, %r1, 8;
	cvt.rn.f32.u32 %f, %r2; mul.f32 %f, %f, 0f33800000; // 2^-24
	st.global.f32 [%d2], %f; ret;
}`

// A generator whose state is in device memory advances with each replay. As a graph and over streams, it draws the same numbers.
func Example_randomNumbers() {
	ctx := context.Background()
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	for _, streams := range []bool{false, true} {
		t := reprise.Record(dev, "random")
		out := t.Alloc("out", reprise.F32, 1, reprise.Output)
		state := t.Alloc("state", reprise.U32, 1, reprise.InOut)
		t.Launch(t.Module("random.ptx", random).Kernel("random"), reprise.Linear(1, 1), out, state)
		trace, err := t.Finish()
		check(err)
		defer trace.Close()
		exec, err := reprise.Compile(dev, trace, reprise.Options{Streams: streams})
		check(err)
		defer exec.Close()

		check(reprise.Write(state, []uint32{7})) // the seed
		var drawn [3]float32
		for i := range drawn {
			check(exec.Replay(ctx))
			drawn[i] = first(out)
		}
		fmt.Println(drawn)
	}
	// Output:
	// [0.2387808 0.9134932 0.6124916]
	// [0.2387808 0.9134932 0.6124916]
}

// first returns the first element of a buffer.
func first(b reprise.Buffer) float32 {
	data := make([]float32, b.Len())
	check(reprise.Read(data, b))
	return data[0]
}
