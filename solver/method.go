package solver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Method is a way to solve Ax = b. Trace sets up what it needs on the device and returns the
// function that issues one iteration, which ends with System.Check, or System.Period of them. That is called
// once in advance, when nothing is launched, and then while a trace is made, or for each iteration when there is none. It must
// issue the same operations each time. A method that cannot be replayed is a MethodError.
type Method struct {
	Name      string
	Doc       string
	Symmetric bool   // only for symmetric matrices
	Breakdown string // what it means when a denominator is zero
	Remedy    string // what to try where it does not converge; "" is to allow more or to precondition
	// Preconditions says that Trace takes care of Options.Preconditioner, and Diagonal that the method
	// inverts the diagonal in any case. Of others the columns of the matrix are scaled, which preconditions
	// from the right and leaves the residual as it is.
	Preconditions, Diagonal bool

	Trace func(*System) (iterate func())

	problem func(a *sparse.CSR, b []float64, o *Options) (*problem, error) // when it is not Ax = b
}

// remedy is what an error advises.
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

// Lookup returns the method of that name.
func Lookup(name string) (Method, error) {
	all := Methods()
	if i := slices.IndexFunc(all, func(m Method) bool { return m.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	hint := ""
	if nearest := ir.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return Method{}, fmt.Errorf("unknown method %q%s; there are %s", name, hint, strings.Join(names, ", "))
}
