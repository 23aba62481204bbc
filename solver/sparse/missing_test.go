package sparse

import (
	"bytes"
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"ConvectionDiffusion": ConvectionDiffusion, "Generate": Generate,
			"Read":     Read,
			"ReadFile": ReadFile, "NewTriplets": NewTriplets,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return poisson2D(2) },
			func(*testing.T) any { return NewTriplets(2, 2) },
			func(*testing.T) any { return NewTriplets(0, 0) },
			func(*testing.T) any { return &CSR{} },
		},
		Pool: func(*testing.T) []any { return []any{4, uint64(1), make([]float64, 4), &bytes.Buffer{}} },
		// Indices are those of a slice.
		Except: []string{"sparse.CSR.At", "sparse.CSR.Column", "sparse.CSR.Mul", "sparse.CSR.Row", "sparse.Triplets.Add"},
		Typed:  func(err error) bool { return errors.Is(err, absent.Err) },
	})
}
