package solver

import "github.com/reprise-gpu/reprise/ir"

// CG is the conjugate gradient method (M. Hestenes and E. Stiefel, 1952), for symmetric positive definite matrices.
// An iteration starts with p = z + βp, where z is the preconditioned residual. The first iteration is no special
// case, because β is 0.
//
//	p = z + βp ─► q = Ap, p·q ─► α = ρ/(p·q) ─┬► r -= αq, r·r, r·z ─► β = r·z/ρ, ρ = r·z
//	                                          └► x += αp
var CG = Method{
	Name: "cg", Doc: "conjugate gradients, for symmetric positive definite matrices",
	Symmetric: true, Preconditions: true,
	Breakdown: "p·Ap is not positive, so the matrix is not positive definite",
	Trace:     traceCG,
}

func traceCG(s *System) func() {
	r, p, q := s.Vector("r", s.Residual), s.Vector("p", nil), s.Temporary("q")
	alpha, beta := s.TemporaryScalar("alpha"), s.Scalar("beta", 0)
	curvature := s.sums("curvature", s.rowBlocks(), 1)
	blocks := s.vectorBlocks()

	rho := dot(s.Residual, s.Residual)
	var norms, products Vector
	var direct, reduce func()
	if s.Inverse == nil {
		norms = s.sums("norms", blocks, 1)
		products = norms // r·z is r·r
		direct = func() { s.vector("xpay", r, beta, p) }
		reduce = func() { s.vector("minus_norm", alpha, q, r, norms) }
	} else {
		rho = dot(s.Residual, product(s.Inverse, s.Residual))
		d := s.floats("d", ir.Constant, s.Inverse)
		norms, products = s.twoSums("norms", blocks)
		direct = func() { s.vector("dxpay", d, r, beta, p) }
		reduce = func() { s.vector("minus_norms", alpha, q, d, r, norms, products) }
	}
	old := s.Scalar("rho", rho)
	return func() {
		direct()
		s.rows("spmv_dot", p, p, q, curvature)
		s.scalar("cg_alpha", s.rowBlocks(), curvature, s.rowBlocks(), old, alpha)
		reduce()
		s.vector("axpy", alpha, p, s.X)
		s.scalar("cg_beta", blocks, norms, products, blocks, old, beta, s.limits, s.history)
	}
}
