package solver

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

// problem is what the device computes with, in float64 on the host: the system that was given,
// times a power of two, so that squares of norms neither overflow nor vanish.
type problem struct {
	given *sparse.CSR
	rhs   []float64 // as given

	a        *sparse.CSR // its columns scaled by the inverse diagonal, when that is asked for
	inverse  []float64   // of the diagonal, nil without a preconditioner
	columns  bool        // a is scaled, and so is the solution
	scale    float64     // of b, x0 and residual
	b, x0    []float64
	residual []float64
	norm     float64 // of b
}

func newProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	if err := checkSystem(a, b, o); err != nil {
		return nil, err
	}
	p := &problem{given: a, rhs: b, a: a, scale: 1}
	if n := norm(b); n > 0 {
		p.scale = math.Ldexp(1, -math.Ilogb(n))
	}
	if o.Preconditioner == Jacobi || o.Method.Diagonal {
		if err := p.precondition(o); err != nil {
			return nil, err
		}
	}
	p.b, p.x0 = scaled(b, p.scale), make([]float64, a.Rows)
	for i, v := range o.X0 {
		if p.x0[i] = v * p.scale; p.columns {
			p.x0[i] /= p.inverse[i]
		}
	}
	p.residual = residual(p.a, p.x0, p.b)
	p.norm = norm(p.b)
	return p, nil
}

// checkSystem reports what cannot be solved.
func checkSystem(a *sparse.CSR, b []float64, o *Options) error {
	if a.Rows != a.Cols {
		return &ShapeError{Rows: a.Rows, Cols: a.Cols}
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
				return &NotFiniteError{What: fmt.Sprintf("element (%d, %d) of the matrix", i, cols[k]), Value: v}
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

// solution is that of the system as it was given.
func (p *problem) solution(x []float64) []float64 {
	x = scaled(x, 1/p.scale)
	if p.columns {
		for i := range x {
			x[i] *= p.inverse[i]
		}
	}
	return x
}

// trueResidual is ‖b-Ax‖/‖b‖ of the system as it was given.
func (p *problem) trueResidual(x []float64) float64 {
	r := norm(scaled(residual(p.given, x, p.rhs), p.scale))
	if r == 0 {
		return 0
	}
	return r / p.norm
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

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
