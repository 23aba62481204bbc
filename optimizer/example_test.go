package optimizer_test

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Two operations that touch different bytes run side by side; the third waits
// for the one that is not before it on its lane.
func ExamplePlan() {
	f, err := ir.Parse("tiles.rir", `graph tiles {
  buffer @x f32[64] device(0) inout
  %0 = host "left" uses(write @x[0:128])
  %1 = host "right" uses(write @x[128:256])
  %2 = host "sum" uses(read @x)
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := optimizer.Plan(f.Graph, optimizer.Options{Strategy: "nimble", Verify: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range res.Schedule.Order {
		fmt.Println(v, "on lane", res.Schedule.Lane[v], "waits for", res.Schedule.Waits[v])
	}
	// Output:
	// %0 on lane 0 waits for []
	// %1 on lane 1 waits for []
	// %2 on lane 0 waits for [%1]
}
