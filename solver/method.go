package solver

import (
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Method is a way to solve Ax = b. Trace allocates what the method needs on the device and returns a function that
// issues one iteration, or System.Period iterations. Each iteration ends with System.Check. The function is called
// once in advance, without launching anything. It is then called while a trace is made or, in mode Eager, for each
// iteration. It must issue the same operations in each call. A method that breaks this rule gets a MethodError.
type Method struct {
	Name      string
	Doc       string
	Symmetric bool   // requires a symmetric matrix
	Breakdown string // meaning of a zero divisor
	Remedy    string // advice if it does not converge; "" means more iterations or a preconditioner
	// Preconditions is set if Trace applies Options.Preconditioner itself, and Diagonal if the method always inverts
	// the diagonal. For other methods the columns of the matrix are scaled. That preconditions from the right and
	// does not change the residual.
	Preconditions, Diagonal bool

	Trace func(*System) (iterate func())

	alone   string                                                         // why one device must run an iteration; "" if several can share it
	problem func(a *sparse.CSR, b []float64, o *Options) (*problem, error) // nil for Ax = b
}

// remedy returns the advice for an error.
func (m *Method) remedy() string {
	if m.Remedy == "" {
		return "allow more iterations, or use a preconditioner or another method"
	}
	return m.Remedy
}

// Methods lists the methods of this package.
func Methods() []Method {
	return []Method{CG, BiCGSTAB, GMRES, Chebyshev, JacobiIteration, GaussSeidel, Power, PageRank, HITS, Heat, Wave}
}
