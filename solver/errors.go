package solver

import "fmt"

// OptionError says that an option cannot have the value it was given.
type OptionError struct {
	Option string // the field of Options
	Value  any
	Want   string // what it can have, with other fields by their names
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("option %s is %v: %s", e.Option, e.Value, e.Want)
}

// ShapeError says that a system has no unique solution because of its extents.
type ShapeError struct {
	Rows, Cols int // of the matrix
	What       string
	Len        int // of it
}

func (e *ShapeError) Error() string {
	if e.Rows != e.Cols {
		return fmt.Sprintf("the matrix is %d x %d: it has to be square", e.Rows, e.Cols)
	}
	return fmt.Sprintf("%s has %d elements for a matrix of %d rows: it has one for each", e.What, e.Len, e.Rows)
}

// SymmetryError says that a method for symmetric matrices got another.
type SymmetryError struct {
	Method   string
	Row, Col int
	Upper    float64 // the element there
	Lower    float64 // that at (Col, Row)
}

func (e *SymmetryError) Error() string {
	return fmt.Sprintf("%s takes symmetric matrices, and of this element (%d, %d) is %g and (%d, %d) is %g (counted from 0): use bicgstab or gmres",
		e.Method, e.Row, e.Col, e.Upper, e.Col, e.Row, e.Lower)
}

// NotFiniteError says that a number of the input, or one that was computed, is infinite or none.
type NotFiniteError struct {
	What      string // "b[3]", "the residual"
	Value     float64
	Iteration int // 0: before the first
}

func (e *NotFiniteError) Error() string {
	if e.Iteration == 0 {
		return fmt.Sprintf("%s is %g: all numbers have to be finite in the precision of the solver", e.What, e.Value)
	}
	return fmt.Sprintf("iteration %d: %s is no finite number any more: another method or precision may do", e.Iteration, e.What)
}

// BreakdownError says that a method cannot go on, because a number it divides by is zero, or
// has a sign that it cannot have for the matrices that the method is for.
type BreakdownError struct {
	Method    string
	Iteration int
	What      string // why, in the method's terms
}

func (e *BreakdownError) Error() string {
	return fmt.Sprintf("%s breaks down in iteration %d: %s", e.Method, e.Iteration, e.What)
}

// DivergenceError says that the residual grew beyond Options.Divergence.
type DivergenceError struct {
	Method    string
	Iteration int
	Residual  float64 // relative
	Remedy    string
}

func (e *DivergenceError) Error() string {
	return fmt.Sprintf("%s diverges: the relative residual is %.3g after %d iterations: %s", e.Method, e.Residual, e.Iteration, e.Remedy)
}

// StagnationError says that a cycle of a restarted method gained nothing, so that no further one will.
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

// NotConvergedError says that MaxIterations were not enough.
type NotConvergedError struct {
	Method              string
	Iterations          int
	Residual, Tolerance float64
	Remedy              string
}

func (e *NotConvergedError) Error() string {
	return fmt.Sprintf("%s did not converge: the relative residual is %.3g after %d iterations, not %.3g: %s", e.Method, e.Residual, e.Iterations, e.Tolerance, e.Remedy)
}

// AccuracyError says that the residual that a method keeps up became small while that of its
// solution did not: rounding has separated them.
type AccuracyError struct {
	Method         string
	Precision      Precision
	Residual, True float64
	Tolerance      float64
	Iterations     int
}

func (e *AccuracyError) Error() string {
	remedy := "rounding keeps it from that: ask for less"
	if e.Precision == Single {
		remedy += ", or use double precision"
	}
	return fmt.Sprintf("%s in %v precision did not reach %.3g: after %d iterations its own residual is %.3g, but that of the solution %.3g: %s",
		e.Method, e.Precision, e.Tolerance, e.Iterations, e.Residual, e.True, remedy)
}

// DistributionError says that weights of which probabilities are to be made are negative, or all zero.
type DistributionError struct {
	What     string // "b", "x0", "the matrix"
	Row, Col int
	Value    float64 // 0: all are
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

// MethodError says that a method does what no method may do, as it would come to one result in one mode and to another
// in the next. It is found before anything runs, but for a function that issues the same operations at first and others later.
type MethodError struct {
	Method    string
	Operation string // with its operands; "" when it is none of them alone
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
