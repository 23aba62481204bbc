package dag_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/graph/coloring"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/dag"
	"github.com/reprise-gpu/reprise/optimizer"
)

// addOne adds 1 to each of n numbers.
const addOne = `
.version 7.0
.target sm_52
.address_size 64
.visible .entry add_one(.param .u64 x, .param .u32 n) {
	.reg .pred %p; .reg .f32 %f; .reg .b32 %r<5>; .reg .b64 %d<3>;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r1, %r4; @%p ret;
	ld.param.u64 %d1, [x]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
	ld.global.f32 %f, [%d1]; add.f32 %f, %f, 0f3F800000; st.global.f32 [%d1], %f; ret;
}`

// A traced program is a gonum graph. Planning adds its dependencies, which are the edges. Operations that
// no path orders must not share a lane, so gonum's DSATUR assigns lanes by colouring these pairs.
func Example_tracedProgram() {
	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "pairs")
	kernel := t.Module("add_one.ptx", addOne).Kernel("add_one")
	x := t.Alloc("x", reprise.F32, 1024, reprise.InOut)
	y := t.Alloc("y", reprise.F32, 1024, reprise.InOut)
	for range 2 {
		t.Launch(kernel, reprise.Linear(4, 256), x, 1024)
		t.Launch(kernel, reprise.Linear(4, 256), y, 1024)
	}
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	check(err)

	conflicts, err := dag.Incomparability(plan.Reduced)
	check(err)
	lanes, lane, err := coloring.Dsatur(conflicts, nil)
	check(err)
	fmt.Println(lanes, "lanes:", lane[0], lane[1], lane[2], lane[3])
	chains, err := dag.MinimumChainCover(plan.Reduced)
	fmt.Println(chains, err)
	// Output:
	// 2 lanes: 0 1 0 1
	// [[%0 %2] [%1 %3]] <nil>
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
