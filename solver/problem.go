package solver

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

// problem holds the numbers that the device computes with, in float64 on the host.
type problem struct {
	a        *sparse.CSR
	other    *sparse.CSR // transpose of a for methods that use both, otherwise nil
	b, x0    []float64
	residual []float64 // b - a x0 of a linear system
	inverse  []float64 // of the diagonal; nil without a preconditioner
	columns  bool      // the columns of a are scaled by inverse
	norm     float64   // residuals are relative to this norm
	start    float64   // relative residual of x0
	steps    bool      // the result is the state after MaxIterations; a small residual does not end the method

	// conclude converts the result of the device to the solution, and adds what is known about it to the result.
	conclude func(x []float64, res *Result) []float64
}

// newProblem checks the arguments of Solve and makes a problem of them.
func newProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	if err := checkSystem(a, b, o); err != nil {
		return nil, err
	}
	if o.Method.problem != nil {
		if o.Preconditioner != None {
			return nil, fmt.Errorf("preconditioner %v: method %s does not support one", o.Preconditioner, o.Method.Name)
		}
		return o.Method.problem(a, b, o)
	}
	return linearProblem(a, b, o)
}

// linearProblem returns the problem Ax = b. Both sides are scaled by powers of two so that squares of norms do not
// overflow or underflow.
func linearProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	p := &problem{}
	var up, of int // exponents of the powers of two of b and A
	p.a, of = tamed(a)
	if e := exponent(b); norm(b) > 0 {
		up = -e - math.Ilogb(norm(shifted(b, -e)))
	}
	if o.Preconditioner == Jacobi || o.Method.Diagonal {
		if err := p.precondition(o); err != nil {
			return nil, err
		}
	}
	p.b, p.x0 = shifted(b, up), make([]float64, a.Rows)
	for i, v := range o.X0 {
		if p.x0[i] = math.Ldexp(v, up-of); p.columns {
			p.x0[i] /= p.inverse[i]
		}
	}
	p.residual = residual(p.a, p.x0, p.b)
	if p.norm = norm(p.b); p.norm > 0 {
		p.start = norm(p.residual) / p.norm
	} else {
		p.x0 = make([]float64, a.Rows) // x0 is the solution: no residual is small relative to 0
	}
	p.conclude = func(x []float64, res *Result) []float64 {
		x = shifted(x, of-up)
		if p.columns {
			x = product(x, p.inverse)
		}
		if p.norm > 0 {
			res.TrueResidual = norm(shifted(residual(a, x, b), up)) / p.norm
		}
		return x
	}
	return p, nil
}

// tame bounds the exponents of elements that need no scaling, so that most matrices need not be copied. The sum of
// squares of the maximum number of such elements is finite in single precision, too.
const tame = 30

// tamed returns a times 2^e, so that squares of sums of its elements do not overflow or underflow.
func tamed(a *sparse.CSR) (_ *sparse.CSR, e int) {
	if e = exponent(a.Val); -tame <= e && e <= tame {
		return a, 0
	}
	b := *a
	b.Val = shifted(a.Val, -e)
	return &b, -e
}

// exponent returns the binary exponent of the greatest absolute value, or 0 if all elements are 0.
func exponent(values []float64) int {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return 0
	}
	return math.Ilogb(largest)
}

// shifted returns x times 2^e, which is exact except for overflow and underflow.
func shifted(x []float64, e int) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, e)
	}
	return y
}

// checkSystem returns an error for a system that cannot be solved.
func checkSystem(a *sparse.CSR, b []float64, o *Options) error {
	if a.Rows != a.Cols {
		return &ShapeError{Rows: a.Rows, Cols: a.Cols}
	}
	if most := math.MaxInt32 - maxBlocks*threads; a.Rows > most {
		return fmt.Errorf("%d unknowns: indices of 32 bits allow for %d", a.Rows, most)
	}
	for _, v := range []struct {
		name     string
		elements []float64
	}{{"b", b}, {"x0", o.X0}} {
		if len(v.elements) != a.Rows && (v.name == "b" || v.elements != nil) {
			return &ShapeError{Rows: a.Rows, Cols: a.Cols, What: v.name, Len: len(v.elements)}
		}
		for i, x := range v.elements {
			if !finite(x) {
				return &NotFiniteError{What: fmt.Sprintf("%s[%d]", v.name, i), Value: x}
			}
		}
	}
	if err := a.Check(); err != nil {
		return err
	}
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, v := range vals {
			if !finite(v) || o.Precision == Single && !finite(float64(float32(v))) {
				return &NotFiniteError{What: fmt.Sprintf("element (%d, %d) of the matrix (counted from 0)", i, cols[k]), Value: v}
			}
		}
	}
	if o.Method.Symmetric {
		return checkSymmetry(o.Method.Name, a)
	}
	return nil
}

// checkSymmetry checks symmetry with a tolerance for the rounding of a matrix assembled in two orders.
func checkSymmetry(method string, a *sparse.CSR) error {
	t := a.Transpose()
	for i := range a.Rows {
		cols, vals := a.Row(i)
		mirrored, mirror := t.Row(i)
		for k := 0; k < max(len(cols), len(mirrored)); k++ {
			switch {
			case k < len(cols) && k < len(mirrored) && cols[k] == mirrored[k]:
				if math.Abs(vals[k]-mirror[k]) <= 1e-12*max(math.Abs(vals[k]), math.Abs(mirror[k])) {
					continue
				}
				return &SymmetryError{Method: method, Row: i, Col: int(cols[k]), Upper: vals[k], Lower: mirror[k]}
			case k >= len(mirrored) || k < len(cols) && cols[k] < mirrored[k]:
				return &SymmetryError{Method: method, Row: i, Col: int(cols[k]), Upper: vals[k], Lower: a.At(int(cols[k]), i)}
			default:
				j := int(mirrored[k])
				return &SymmetryError{Method: method, Row: i, Col: j, Upper: a.At(i, j), Lower: mirror[k]}
			}
		}
	}
	return nil
}

// precondition inverts the diagonal, and scales the columns unless the method applies the preconditioner itself.
func (p *problem) precondition(o *Options) error {
	p.inverse = p.a.Diagonal()
	for i, d := range p.inverse {
		if d == 0 {
			return &BreakdownError{Method: o.Method.Name, Iteration: 1, What: fmt.Sprintf("it divides by the diagonal, of which element %d is 0", i)}
		}
		p.inverse[i] = 1 / d
	}
	if o.Method.Preconditions || o.Method.Diagonal {
		return nil
	}
	p.columns = true
	scaled := *p.a
	scaled.Val = append([]float64(nil), p.a.Val...)
	for k, c := range scaled.Col {
		scaled.Val[k] *= p.inverse[c]
	}
	p.a = &scaled
	return nil
}

// residual returns b - Ax.
func residual(a *sparse.CSR, x, b []float64) []float64 {
	r := make([]float64, len(b))
	a.Mul(r, x)
	for i := range r {
		r[i] = b[i] - r[i]
	}
	return r
}

func scaled(x []float64, by float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v * by
	}
	return y
}

// norm returns the Euclidean norm, scaled so that squares do not overflow or underflow.
func norm(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || !finite(largest) {
		return largest
	}
	sum := 0.0
	for _, v := range x {
		sum += v / largest * (v / largest)
	}
	return largest * math.Sqrt(sum)
}

// unit returns x divided by its norm.
func unit(x []float64) []float64 {
	x = shifted(x, -exponent(x))
	n := norm(x)
	if n == 0 {
		return x
	}
	return scaled(x, 1/n)
}

func sum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// product returns the elementwise product.
func product(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = x[i] * y[i]
	}
	return z
}

func quotient(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = x[i] / y[i]
	}
	return z
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
