package solver

import "github.com/reprise-gpu/reprise/ir"

// JacobiIteration is the Jacobi method: x += D⁻¹(b - Ax). It converges, for example, if the absolute value of each
// diagonal element exceeds the sum of those of the other elements in its row.
var JacobiIteration = Method{
	Name: "jacobi", Doc: "Jacobi's method, for diagonally dominant matrices",
	Diagonal: true,
	Remedy:   stationaryRemedy,
	Trace:    traceJacobi,
}

const stationaryRemedy = "use cg for a symmetric positive definite matrix, and else bicgstab or gmres"

func traceJacobi(s *System) func() {
	r, b := s.Vector("r", s.Residual), s.floats("b", ir.Constant, s.p.b)
	d := s.floats("d", ir.Constant, s.Inverse)
	norms := s.sums("norms", s.rowBlocks(), 1)
	return func() {
		s.vector("axpyd", s.Running, d, r, s.X)
		s.rows("residual", s.X, b, r, norms)
		s.scalar("check", s.rowBlocks(), norms, s.rowBlocks(), s.Running, s.limits, s.history)
	}
}

// GaussSeidel is the multicolour Gauss-Seidel method. Rows of one colour do not depend on each other and are relaxed
// in parallel. Each colour uses the results of the previous ones. A stencil of five or seven points has two colours,
// red and black. It converges for symmetric positive definite matrices, and on those stencils twice as fast as the
// Jacobi method.
var GaussSeidel = Method{
	Name: "gauss-seidel", Doc: "Gauss-Seidel by colours (red and black on stencils), for diagonally dominant or definite matrices",
	Diagonal: true,
	Remedy:   stationaryRemedy,
	alone:    "the rows of a colour are not consecutive",
	Trace:    traceGaussSeidel,
}

func traceGaussSeidel(s *System) func() {
	r, b := s.Temporary("r"), s.floats("b", ir.Constant, s.p.b)
	d := s.floats("d", ir.Constant, s.Inverse)
	norms := s.sums("norms", s.rowBlocks(), 1)
	order, ends := byColour(s.p.a)
	rows := load(s, "order", ir.I32, ir.Constant, order)
	return func() {
		first := 0
		for _, end := range ends {
			n := end - first
			s.launch("spmv", "relax", blocksFor(n*s.lanes), threads, s.a.ptr, s.a.col, s.a.val, rows.Slice(int64(first), int64(end)), b, d, s.Running, s.X, s.lanes, n)
			first = end
		}
		s.rows("residual", s.X, b, r, norms)
		s.scalar("check", s.rowBlocks(), norms, s.rowBlocks(), s.Running, s.limits, s.history)
	}
}
