// Cluster runs Jacobi's method for the heat of a plate on several GPUs. The program is that of one GPU: which rows each GPU
// needs from its neighbours follows from the kernel. Without mpirun, all ranks of a simulated machine are goroutines:
//
//	go run ./examples/cluster
//	go run ./examples/cluster -machine 4x1:v100
//	mpirun -np 2 cluster -machine 2x4:a100 -gpus
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"math"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/cluster"
)

//go:embed plate.ptx
var platePTX string

const (
	side  = 64 // elements of the plate in each direction
	block = 8  // threads of a block in each direction
	tiles = side / block
)

var ctx = context.Background()

func main() {
	machine := flag.String("machine", "2x2", "name or file of the machine")
	gpus := flag.Bool("gpus", false, "use the GPUs of this computer instead of simulated ones")
	flag.Parse()
	on := cluster.Simulated
	if *gpus {
		on = cluster.GPUs
	}
	if err := cluster.Run(ctx, *machine, on, settle); err != nil {
		log.Fatal(err)
	}
}

// settle runs steps until the plate no longer changes.
func settle(rank *cluster.Rank) error {
	t := rank.Record("plate")
	m := t.Module("plate.ptx", platePTX)
	u := t.Alloc("u", reprise.F32, side*side, reprise.InOut)
	v := t.Alloc("v", reprise.F32, side*side, reprise.InOut)
	change := t.Alloc("change", reprise.I32, 1, reprise.Output) // bits of the largest change, which is not negative
	shape := reprise.Square(tiles, block)
	t.Launch(m.Kernel("smooth"), shape, u, v, side)
	t.Launch(m.Kernel("smooth"), shape, v, u, side)
	t.Memset(change, int32(0))
	t.Launch(m.Kernel("largest"), shape, u, v, change, side)
	trace, err := t.Finish()
	if err != nil {
		return err
	}
	plan, err := rank.Compile(ctx, trace, cluster.Options{})
	if err != nil {
		return err
	}
	defer plan.Close()

	plate := make([]float32, side*side) // cold, but for one side
	for i := range side {
		plate[i] = 100
	}
	if err := cluster.Write(plan, u, plate); err != nil {
		return err
	}
	if err := cluster.Write(plan, v, plate); err != nil {
		return err
	}
	small := cluster.Condition{Scalar: change.Range(), Is: reprise.Below, Value: float64(math.Float32bits(0.1))}
	result, err := plan.RunUntil(ctx, small, 10, 1000)
	if err != nil {
		return err
	}
	if err := cluster.Read(ctx, plan, plate, u); err != nil {
		return err
	}
	if rank.Number() == 0 {
		log.Print("how the step is distributed:\n", plan.Why())
		fmt.Printf("%v: settled after %d steps; %.2f degrees in the middle\n", rank.Machine(), result.Steps, plate[side*side/2+side/2])
	}
	return plan.Close()
}
