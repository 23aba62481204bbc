package cluster_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/cluster"
)

const doubled = `.version 6.0
.target sm_50
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n)
{
	.reg .pred %p; .reg .u32 %r<6>; .reg .u64 %d<3>;
	ld.param.u64 %d0, [x];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	setp.ge.u32 %p, %r4, %r0;
	@%p ret;
	mul.wide.u32 %d1, %r4, 4;
	add.u64 %d2, %d0, %d1;
	ld.global.u32 %r5, [%d2];
	add.u32 %r5, %r5, %r5;
	st.global.u32 [%d2], %r5;
	ret;
}`

// A step runs on four simulated GPUs. Each has a quarter of the buffer.
func Example() {
	ctx := context.Background()
	err := cluster.Run(ctx, "h200-4", cluster.Simulated, func(rank *cluster.Rank) error {
		t := rank.Record("doubling")
		x := t.Alloc("x", reprise.I32, 1000, reprise.InOut)
		t.Launch(t.Module("twice.ptx", doubled).Kernel("twice"), reprise.Linear(16, 64), x, 1000)
		trace, err := t.Finish()
		if err != nil {
			return err
		}
		plan, err := rank.Compile(ctx, trace, cluster.Options{})
		if err != nil {
			return err
		}
		defer plan.Close()
		data := make([]int32, 1000)
		for i := range data {
			data[i] = int32(i)
		}
		if err := cluster.Write(plan, x, data); err != nil {
			return err
		}
		if err := plan.Run(ctx, 3); err != nil {
			return err
		}
		if err := cluster.Read(ctx, plan, data, x); err != nil {
			return err
		}
		fmt.Print(plan.Why())
		fmt.Println(data[1], data[999])
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	//   %0 twice: split, because its chunks along x write different bytes
	// 8 7992
}
