package solver

// BiCGSTAB is the stabilized biconjugate gradient method (H. van der Vorst, 1992), for regular matrices. w is the
// initial residual.
//
//	p = r + β(p - ωv) ─► v = Ap, w·v ─► α = ρ/(w·v) ─► s = r - αv ─► t = As, t·t, s·t ─► ω = s·t/(t·t)
//	─┬► r = s - ωt, r·r, w·r ─► β = (w·r/ρ)(α/ω), ρ = w·r
//	 └► x += αp + ωs
var BiCGSTAB = Method{
	Name: "bicgstab", Doc: "stabilized biconjugate gradients, for any matrix",
	Breakdown: "the residual has become orthogonal to that of the start, or the step is zero: start elsewhere, or use gmres",
	Trace:     traceBiCGSTAB,
}

func traceBiCGSTAB(s *System) func() {
	r, w := s.Vector("r", s.Residual), s.Vector("w", s.Residual)
	p, v := s.Vector("p", nil), s.Vector("v", nil)
	half, t := s.Temporary("s"), s.Temporary("t")
	rho, alpha := s.Scalar("rho", dot(s.Residual, s.Residual)), s.TemporaryScalar("alpha")
	beta, omega := s.Scalar("beta", 0), s.Scalar("omega", 0)
	along := s.sums("along", s.rowBlocks(), 1)
	tt, st := s.twoSums("halves", s.rowBlocks())
	rr, wr := s.twoSums("ends", s.vectorBlocks())
	return func() {
		s.vector("update", r, beta, omega, v, p)
		s.rows("spmv_dot", p, w, v, along)
		s.scalar("bicgstab_alpha", s.rowBlocks(), along, s.rowBlocks(), rho, alpha)
		s.vector("minus", r, alpha, v, half)
		s.rows("spmv_dots", half, half, t, tt, st)
		s.scalar("bicgstab_omega", s.rowBlocks(), tt, st, s.rowBlocks(), omega)
		s.vector("minus_dots", half, omega, t, w, r, rr, wr)
		s.vector("axpy2", alpha, p, omega, half, s.X)
		s.scalar("bicgstab_beta", s.vectorBlocks(), rr, wr, s.vectorBlocks(), rho, alpha, omega, beta, s.limits, s.history)
	}
}
