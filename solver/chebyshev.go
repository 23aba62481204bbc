package solver

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Chebyshev is the Chebyshev semi-iteration (G. Golub and R. Varga, 1961; Y. Saad, "Iterative Methods for Sparse
// Linear Systems", algorithm 12.1), for symmetric positive definite matrices. Its only dot products are those of the
// residual's norm. Instead it needs bounds of the spectrum.
var Chebyshev = Method{
	Name: "chebyshev", Doc: "Chebyshev's semi-iteration, for symmetric positive definite matrices",
	Symmetric: true,
	Trace:     traceChebyshev,
}

func traceChebyshev(s *System) func() {
	least, greatest := spectrum(s.p.a, s.p.inverse)
	if !(least > 0) {
		s.err = &BreakdownError{Method: "chebyshev", Iteration: 1, What: "the matrix is not positive definite"}
	}
	theta, delta := (greatest+least)/2, (greatest-least)/2
	r, q := s.Vector("r", s.Residual), s.Temporary("q")
	d := s.Vector("d", scaled(s.Residual, 1/theta))
	norms := s.sums("norms", s.vectorBlocks(), 1)
	middle, half := s.floats("theta", ir.Constant, []float64{theta}), s.floats("delta", ir.Constant, []float64{delta})
	tau := s.Scalar("tau", 1/theta)
	a, b := s.TemporaryScalar("a"), s.TemporaryScalar("b")
	return func() {
		s.rows("spmv", d, q)
		s.vector("axpy", s.Running, d, s.X)
		s.vector("minus_norm", s.Running, q, r, norms)
		s.scalar("chebyshev", s.vectorBlocks(), norms, s.vectorBlocks(), middle, half, tau, a, b, s.Running, s.limits, s.history)
		s.vector("axpby", b, r, a, d)
	}
}

// spectrum returns bounds of the eigenvalues of a symmetric positive definite matrix. If inverse is given, a is AD⁻¹ for
// such a matrix A with diagonal D, and inverse is the diagonal of D⁻¹.
//
// The eigenvalues of AD⁻¹ are those of the symmetric S = D^-½ A D^-½ = D^-½ (AD⁻¹) D^½. roots holds the diagonal of D^-½,
// so element (i,c) of S is that of a times roots[i]/roots[c]. The upper bound is Gershgorin's: no eigenvalue exceeds the
// greatest sum of absolute values of a row of S. The lower bound comes from the Lanczos method and may be somewhat too
// large, which slows Chebyshev's method down but does not prevent convergence.
func spectrum(a *sparse.CSR, inverse []float64) (least, greatest float64) {
	roots := make([]float64, a.Rows)
	for i := range roots {
		roots[i] = 1
		if inverse == nil {
			continue
		}
		if inverse[i] < 0 {
			return inverse[i], 0 // no definite matrix has such a diagonal element
		}
		roots[i] = math.Sqrt(inverse[i])
	}
	for i := range a.Rows {
		sum := 0.0
		cols, vals := a.Row(i)
		for k, c := range cols {
			sum += math.Abs(vals[k] * roots[i] / roots[c])
		}
		greatest = max(greatest, sum)
	}
	return lanczos(a, roots), greatest
}

// lanczosSteps suffices for a good estimate of the least eigenvalue of model problems with a thousand points.
const lanczosSteps = 60

// lanczos approximates the least eigenvalue of S (see spectrum) from above. With w = Sv, each step makes a unit vector that
// is orthogonal to the two before it (G. Golub and C. Van Loan, "Matrix Computations", 2013, section 10.1):
//
//	αₖ = vₖ·w,  w -= αₖvₖ + βₖ₋₁vₖ₋₁,  βₖ = ‖w‖,  vₖ₊₁ = w/βₖ
//
// The tridiagonal matrix of the αs and βs is S on the space of these vectors, so its least eigenvalue is at least that of
// S. A β of almost 0 means that the space is invariant, and the eigenvalue exact. Vectors are not orthogonalized again:
// rounding only repeats eigenvalues that were found already.
func lanczos(a *sparse.CSR, roots []float64) float64 {
	n := a.Rows
	v, old := make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = 1 / math.Sqrt(float64(n)) * (1 + float64(i%7)/8) // not an eigenvector
	}
	v = scaled(v, 1/norm(v))
	steps := min(n, lanczosSteps)
	t := mat.NewSymDense(steps, nil)
	used, beta := 0, 0.0
	for k := range steps {
		w := make([]float64, n)
		a.Mul(w, quotient(v, roots))
		w = product(roots, w)
		alpha := dot(v, w)
		t.SetSym(k, k, alpha)
		used++
		for i := range w {
			w[i] -= alpha*v[i] + beta*old[i]
		}
		beta = norm(w)
		if k+1 == steps || beta <= 1e-12*math.Abs(alpha) {
			break
		}
		t.SetSym(k, k+1, beta)
		old, v = v, scaled(w, 1/beta)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(t.SliceSym(0, used), false) {
		return math.NaN()
	}
	return eigen.Values(nil)[0]
}
