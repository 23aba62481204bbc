package bench

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// OfSolver returns the iterations of a solver between two checks of the host as a workload of one size, 0. The right-hand side
// is ones. Each replay begins with the initial guess. Results are not compared: the tests of solvers do that.
func OfSolver(name string, a *sparse.CSR, o solver.Options) *Workload {
	return &Workload{
		Name: name, Title: name, Doc: "iterations of a solver",
		Sizes: []int{0},
		Saved: true,
		Fits: func(size int) error {
			if size != 0 {
				return fmt.Errorf("%s has the size of its matrix: leave the size %d out", name, size)
			}
			return nil
		},
		trace: func(dev device.Device, p Params) (*Instance, error) {
			o.Sampled = p.Sampled
			it, err := solver.Record(dev, a, slices.Repeat([]float64{1}, a.Rows), o)
			if err != nil {
				return nil, err
			}
			p.Memory = AsSaved
			return &Instance{
				Params: p, Trace: it.Trace, Count: it.Count, Reset: it.Load, close: it.Close, program: &program{dev: dev, params: p, trace: it.Trace},
				Check:     func() (float64, error) { return 0, nil },
				InputHash: func() uint64 { return 0 },
			}, nil
		},
	}
}
