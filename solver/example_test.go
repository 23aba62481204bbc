package solver_test

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

func ExampleSolve() {
	dev, err := sim.New(sim.Options{})
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	elements := sparse.NewTriplets(2, 2)
	elements.Add(0, 0, 4)
	elements.Add(0, 1, -1)
	elements.Add(1, 0, -1)
	elements.Add(1, 1, 4)
	a, err := elements.CSR()
	if err != nil {
		panic(err)
	}
	x, res, err := solver.Solve(context.Background(), dev, a, []float64{2, 7}, solver.Options{Method: solver.CG, Mode: solver.Graph})
	fmt.Printf("x = %.3f after %d iterations, %v\n", x, res.Iterations, err)
	// Output: x = [1.000 2.000] after 2 iterations, <nil>
}
