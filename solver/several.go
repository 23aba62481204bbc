package solver

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// SolveAll solves several systems at the same time: the matrix a[i], or a[0] if a has one element, with the right-hand
// side b[i]. An iteration of all systems is one program, so that launches of different systems run side by side. With
// strategy auto, or the pass merge in Options.Also, one launch may run the same operation of several systems. A system
// that has a result stays as it is until the last one has.
//
// Each solution has the bits that Solve computes, and each Result the residuals and the iterations of its system. The
// times are those of all systems together. Options.X0 is the initial guess of all. Options.Observe gets the greatest
// number of iterations and the greatest residual.
//
// An error of the method is that of Solve, with the number of the system from 0: "system 3: ...". Those of several
// systems are joined. The iterates are returned as well.
func SolveAll(ctx context.Context, dev device.Device, a []*sparse.CSR, b [][]float64, o Options) (x [][]float64, results []Result, err error) {
	if len(a) == 1 && len(b) > 1 {
		a = slices.Repeat(a, len(b))
	}
	switch {
	case len(b) == 0:
		return nil, nil, absent.Error("no right-hand side: pass one for each system")
	case len(a) != len(b):
		return nil, nil, fmt.Errorf("there are %d matrices and %d right-hand sides: pass one matrix for all, or one for each", len(a), len(b))
	}
	all, err := solveAll(ctx, dev, a, b, o)
	errs := []error{err}
	for i, s := range all {
		x, results = append(x, s.x), append(results, s.res)
		errs = append(errs, numbered(i, len(all), s.err))
	}
	return x, results, device.Join(errs...)
}
