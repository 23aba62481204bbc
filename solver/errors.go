package solver

import "fmt"

// OptionError reports an invalid value of an option.
type OptionError struct {
	Option string // field of Options
	Value  any
	Want   string // the valid values; other fields are named
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("option %s is %v: %s", e.Option, e.Value, e.Want)
}

// ShapeError reports that a system has no unique solution because of its dimensions.
type ShapeError struct {
	Rows, Cols int // of the matrix
	What       string
	Len        int // of b
}

func (e *ShapeError) Error() string {
	if e.Rows != e.Cols {
		return fmt.Sprintf("the matrix is %d x %d: it has to be square", e.Rows, e.Cols)
	}
	return fmt.Sprintf("%s has %d elements for a matrix of %d rows: it has one for each", e.What, e.Len, e.Rows)
}

// SymmetryError reports that a method for symmetric matrices got another matrix.
type SymmetryError struct {
	Method   string
	Row, Col int
	Upper    float64 // element (Row, Col)
	Lower    float64 // element (Col, Row)
}

func (e *SymmetryError) Error() string {
	return fmt.Sprintf("%s takes symmetric matrices, and of this element (%d, %d) is %g and (%d, %d) is %g (counted from 0): use bicgstab or gmres",
		e.Method, e.Row, e.Col, e.Upper, e.Col, e.Row, e.Lower)
}

// NotFiniteError reports an input or a computed number that is infinite or not a number.
type NotFiniteError struct {
	What      string // "b[3]", "the residual"
	Value     float64
	Iteration int // 0 before the first iteration
}

func (e *NotFiniteError) Error() string {
	if e.Iteration == 0 {
		return fmt.Sprintf("%s is %g: all numbers have to be finite in the precision of the solver", e.What, e.Value)
	}
	return fmt.Sprintf("iteration %d: %s is no finite number any more: another method or precision may do", e.Iteration, e.What)
}

// BreakdownError reports that a method cannot continue because a divisor is zero, or has a sign that is impossible
// for the matrices of the method.
type BreakdownError struct {
	Method    string
	Iteration int
	What      string // cause, in the method's terms
}

func (e *BreakdownError) Error() string {
	return fmt.Sprintf("%s breaks down in iteration %d: %s", e.Method, e.Iteration, e.What)
}

// DivergenceError reports that the residual exceeded Options.Divergence.
type DivergenceError struct {
	Method    string
	Iteration int
	Residual  float64 // relative
	Remedy    string
}

func (e *DivergenceError) Error() string {
	return fmt.Sprintf("%s diverges: the relative residual is %.3g after %d iterations: %s", e.Method, e.Residual, e.Iteration, e.Remedy)
}

// StagnationError reports that a cycle of a restarted method made no progress, so that no later cycle will.
type StagnationError struct {
	Method    string
	Iteration int
	Residual  float64 // relative
	Restart   int
}

func (e *StagnationError) Error() string {
	return fmt.Sprintf("%s stagnates: the relative residual is %.3g after %d iterations, and a restart after %d gains nothing: allow for more between two, or use a preconditioner",
		e.Method, e.Residual, e.Iteration, e.Restart)
}

// NotConvergedError reports that the method did not converge in MaxIterations iterations.
type NotConvergedError struct {
	Method              string
	Iterations          int
	Residual, Tolerance float64
	Remedy              string
}

func (e *NotConvergedError) Error() string {
	return fmt.Sprintf("%s did not converge: the relative residual is %.3g after %d iterations, not %.3g: %s", e.Method, e.Residual, e.Iterations, e.Tolerance, e.Remedy)
}

// AccuracyError reports that the residual updated by the method became small while the true residual of the solution
// did not, because of rounding errors.
type AccuracyError struct {
	Method         string
	Precision      Precision
	Residual, True float64
	Tolerance      float64
	Iterations     int
}

func (e *AccuracyError) Error() string {
	remedy := "rounding prevents that accuracy: request less"
	if e.Precision == Single {
		remedy += ", or use double precision"
	}
	return fmt.Sprintf("%s in %v precision did not reach %.3g: after %d iterations its own residual is %.3g, but that of the solution %.3g: %s",
		e.Method, e.Precision, e.Tolerance, e.Iterations, e.Residual, e.True, remedy)
}

// DistributionError reports that weights for probabilities are negative or all zero.
type DistributionError struct {
	What     string // "b", "x0", "the matrix"
	Row, Col int
	Value    float64 // 0 if all are
}

func (e *DistributionError) Error() string {
	switch {
	case e.Value == 0:
		return fmt.Sprintf("%s is zero, and probabilities cannot be made of that: one element has to be positive", e.What)
	case e.What != "the matrix":
		return fmt.Sprintf("%s[%d] is %g: what probabilities are made of is not negative", e.What, e.Row, e.Value)
	}
	return fmt.Sprintf("element (%d, %d) of %s (counted from 0) is %g: the weight of a link is not negative", e.Row, e.Col, e.What, e.Value)
}

// MethodError reports that a Method breaks the rules, so that its results would depend on the mode. It is detected
// before anything runs, except for a function that issues different operations in a later call.
type MethodError struct {
	Method    string
	Operation string // with its operands; "" if it is not about a single operation
	Reason    string
	Remedy    string
}

func (e *MethodError) Error() string {
	what := e.Method
	if e.Operation != "" {
		what += ": " + e.Operation
	}
	return fmt.Sprintf("method %s: %s: %s", what, e.Reason, e.Remedy)
}
