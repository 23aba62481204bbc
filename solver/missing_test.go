package solver

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Record": Record, "Solve": Solve, "SolveAll": SolveAll,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return Options{} },
			func(*testing.T) any { return Mode(99) },
			func(*testing.T) any { return Precision(99) },
			func(*testing.T) any { return Preconditioner(99) },
			func(*testing.T) any { return &AccuracyError{} },
			func(*testing.T) any { return &BreakdownError{} },
			func(*testing.T) any { return &DistributionError{} },
			func(*testing.T) any { return &DivergenceError{} },
			func(*testing.T) any { return &Iterations{} },
			func(*testing.T) any { return &MethodError{} },
			func(*testing.T) any { return &NotConvergedError{} },
			func(*testing.T) any { return &NotFiniteError{} },
			func(*testing.T) any { return &OptionError{} },
			func(*testing.T) any { return &ShapeError{} },
			func(*testing.T) any { return &StagnationError{} },
			func(*testing.T) any { return &SymmetryError{} },
		},
		Pool: func(t *testing.T) []any {
			return []any{context.Background(), open(t, sim.Options{}), generate("poisson2d:2"), matrices(generate("poisson2d:2")), make([]float64, 4), [][]float64{make([]float64, 4)}, Options{Method: CG, MaxIterations: 4}}
		},
		Typed: func(err error) bool { return errors.Is(err, ir.ErrMissing) },
	})
}
