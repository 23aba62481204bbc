package reprise_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise"
)

// y[i] = a*x[i] + y[i], as nvcc compiles it.
const axpy = `
.version 7.0
.target sm_52
.address_size 64
.visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
	.reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<5>; .reg .b64 %d<6>;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r1, %r4; @%p ret;
	ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.f32 %f1, [a];
	mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
	ld.global.f32 %f2, [%d4]; ld.global.f32 %f3, [%d5];
	fma.rn.f32 %f3, %f1, %f2, %f3; st.global.f32 [%d5], %f3; ret;
}`

// A program is recorded once, and replayed 628 times with one call.
func Example() {
	ctx, n := context.Background(), 4096
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()

	t := reprise.Record(dev, "leapfrog")
	kernel := t.Module("axpy.ptx", axpy).Kernel("axpy")
	x := t.Alloc("x", reprise.F32, int64(n), reprise.InOut)
	y := t.Alloc("y", reprise.F32, int64(n), reprise.InOut)
	step := t.Param("step", reprise.F32, 0.01)
	t.Launch(kernel, reprise.Linear(16, 256), x, y, step, n)          // x += step*y
	t.Launch(kernel, reprise.Linear(16, 256), y, x, float32(-.01), n) // y -= x/100
	trace, err := t.Finish()
	check(err)
	defer trace.Close()

	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	defer exec.Close()

	data := make([]float32, n)
	for i := range data {
		data[i] = 1
	}
	check(reprise.Write(x, data))
	check(reprise.Write(y, make([]float32, n)))
	check(exec.ReplayN(ctx, 628)) // a circle, in steps of 0.01
	check(exec.Wait(ctx))
	check(reprise.Read(data, x))
	fmt.Printf("x is %.3f again\n", data[n-1])
	// Output: x is 1.000 again
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
