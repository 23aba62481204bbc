package solver

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

// problem is what the device computes with, in float64 on the host.
type problem struct {
	a        *sparse.CSR
	other    *sparse.CSR // the transpose of a, for methods that take both; nil for the others
	b, x0    []float64
	residual []float64 // b - a x0, of a linear system
	inverse  []float64 // of the diagonal, nil without a preconditioner
	columns  bool      // those of a have been scaled by it
	norm     float64   // what norms of residuals are relative to
	start    float64   // the relative residual of x0
	steps    bool      // the last of MaxIterations is what is asked for, and not a small residual

	// conclude turns what the device has come to into the solution, and adds to the result what it
	// knows about that.
	conclude func(x []float64, res *Result) []float64
}

// newProblem checks what was given to Solve, and makes it a problem for the device.
func newProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	if err := checkSystem(a, b, o); err != nil {
		return nil, err
	}
	if o.Method.problem != nil {
		if o.Preconditioner != None {
			return nil, fmt.Errorf("preconditioner %v: %s takes none", o.Preconditioner, o.Method.Name)
		}
		return o.Method.problem(a, b, o)
	}
	return linearProblem(a, b, o)
}

// linearProblem is Ax = b with both sides times powers of two, so that squares of norms neither overflow nor vanish.
func linearProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	p := &problem{}
	var up, of int // the exponents of b's power of two, and of A's
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
		p.x0 = make([]float64, a.Rows) // the solution, beside which no residual is small
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

// tame bounds the exponents of elements that are left as they are, so that most matrices need not be copied: the sum
// of the squares of as many numbers as there can be is a number in single precision, too.
const tame = 30

// tamed is a matrix times 2 to the power of e, after which squares of sums of elements neither overflow nor vanish.
func tamed(a *sparse.CSR) (_ *sparse.CSR, e int) {
	if e = exponent(a.Val); -tame <= e && e <= tame {
		return a, 0
	}
	b := *a
	b.Val = shifted(a.Val, -e)
	return &b, -e
}

// exponent is the binary one of the greatest element, in absolute value; 0 of none but zeros.
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

// shifted is x times 2 to the power of e, which changes no bit but where a number is too great or small for it.
func shifted(x []float64, e int) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, e)
	}
	return y
}

// checkSystem reports what cannot be solved.
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

// checkSymmetry allows for what rounding does to a matrix that is assembled in two orders.
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

// precondition inverts the diagonal, and scales the columns unless the method does without.
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

// residual is b - Ax.
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

// norm is the Euclidean norm, scaled so that squares neither overflow nor vanish.
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

// unit is x divided by its norm.
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

// product is elementwise.
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
