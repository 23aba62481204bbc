// Mysolver adds a method of its own to package solver: the minimal residual iteration, which steps
// along the residual as far as makes the next one least. It is written as what one iteration
// does; how iterations reach the device is an option.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

var minimalResidual = solver.Method{
	Name: "minimal-residual", Breakdown: "the residual is in the null space of the matrix",
	Trace: func(s *solver.System) func() {
		r, q := s.Vector("r", s.Residual), s.Temporary("q")
		rq, qq, step, norm := s.TemporaryScalar("rq"), s.TemporaryScalar("qq"), s.TemporaryScalar("step"), s.TemporaryScalar("norm")
		return func() {
			s.SpMV(r, q) // q = A r
			s.Dot(r, q, rq)
			s.Dot(q, q, qq)
			s.Divide(rq, qq, step)
			s.Axpy(step, r, s.X)
			s.Subtract(step, q, r)
			s.Dot(r, r, norm)
			s.Check(norm)
		}
	},
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run solves in every mode; Solve checks each solution.
func run() (err error) {
	a := sparse.ConvectionDiffusion(16, 2)
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = 1
	}
	for _, mode := range solver.Modes() {
		dev, err := sim.New(sim.Options{})
		if err != nil {
			return err
		}
		defer dev.Close()
		_, res, err := solver.Solve(context.Background(), dev, a, b, solver.Options{Method: minimalResidual, Mode: mode})
		if err != nil {
			return err
		}
		fmt.Printf("%-8v %d iterations of %5.1f virtual us, residual %.1e\n", mode, res.Iterations, float64(res.TimePerIteration.Nanoseconds())/1000, res.TrueResidual)
	}
	return nil
}
