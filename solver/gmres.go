package solver

import (
	"math"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// GMRES is the generalized minimal residual method (Y. Saad and M. Schultz, 1986), for regular matrices. It is
// restarted after Options.Restart iterations, and stores one vector for each of these. A trace covers a whole cycle,
// because the iterations of a cycle differ: iteration j orthogonalizes against j vectors. A cycle without progress
// ends the method, because the next cycle would be the same. Vectors are orthogonalized against the whole basis at
// once, twice. That is as accurate as against one vector after another, and takes two sums instead of j (L. Giraud et
// al., 2005).
//
//	r = b - Ax ─► v₀ = r/‖r‖ ─► for each j: w = Avⱼ ─► h = Vᵀw, w -= Vh, twice ─► rotate h, g ─► vⱼ₊₁ = w/‖w‖
//	─► solve Ry = g ─► x += Vy
var GMRES = Method{
	Name: "gmres", Doc: "restarted generalized minimal residuals, for any matrix",
	Breakdown: "the matrix is singular, or too near to one that is",
	Remedy:    "allow more iterations, also between two restarts, or use a preconditioner",
	Trace:     traceGMRES,
}

func traceGMRES(s *System) func() {
	s.use("gmres")
	m := s.restart
	s.Period = m
	g := &gmres{
		System: s, m: m, blocks: s.vectorBlocks(),
		basis:   s.t.Alloc("v", s.elem, int64(m+1)*int64(s.N), ir.Temporary),
		b:       s.floats("b", ir.Constant, s.p.b),
		h:       s.t.Alloc("h", s.elem, int64(m*(m+1)), ir.Temporary),
		g:       s.floats("g", ir.InOut, make([]float64, m+1)),
		before:  s.Scalar("before", math.Inf(1)),
		cosine:  s.floats("cosine", ir.InOut, make([]float64, m)),
		sine:    s.floats("sine", ir.InOut, make([]float64, m)),
		c:       s.t.Alloc("c", s.elem, int64(m), ir.Temporary),
		y:       s.t.Alloc("y", s.elem, int64(m), ir.Temporary),
		used:    s.t.Alloc("used", ir.I32, 1, ir.Temporary),
		inverse: s.TemporaryScalar("inverse"),
		start:   s.sums("start", s.rowBlocks(), 1),
		partial: s.sums("partial", s.vectorBlocks(), m),
		norms:   s.sums("norms", s.vectorBlocks(), 1),
	}
	return g.cycle
}

// gmres holds the memory of a cycle of m iterations. Column j of h is what iteration j has projected on the vectors of the
// basis, and becomes column j of the triangular matrix R by the rotations (cosine, sine) of all iterations up to j. The
// same rotations turn the vector (‖r‖, 0, ...) into g, whose element j+1 is the norm of the residual after iteration j.
type gmres struct {
	*System
	m, blocks int

	basis, b Vector // m+1 vectors, one after another
	h        Vector // m columns of m+1
	g        Vector // m+1

	before                            Vector // norm at the start of the previous cycle
	cosine, sine, c, y, used, inverse Vector
	start, partial, norms             Vector // for sums
}

// v returns vectors lo to hi-1.
func (g *gmres) v(lo, hi int) Vector { return g.basis.Slice(int64(lo*g.N), int64(hi*g.N)) }

// wide and one launch kernels of gmres.cu: over all elements, and as one block.
func (g *gmres) wide(kernel string, args ...any) {
	g.t.Helper()
	g.launch("gmres", kernel, g.blocks, threads, args...)
}

func (g *gmres) one(kernel string, args ...any) {
	g.t.Helper()
	g.launch("gmres", kernel, 1, warpsFor(g.blocks), args...)
}

func (g *gmres) cycle() {
	g.rows("residual", g.X, g.b, g.v(0, 1), g.start)
	g.one("begin", g.start, g.rowBlocks(), g.before, g.g, g.inverse, g.used, g.state)
	g.wide("scale", g.inverse, g.v(0, 1), g.v(0, 1), g.N)
	for j := range g.m {
		g.iteration(j)
	}
	g.launch("gmres", "solve", 1, 32, g.h, g.g, g.used, g.y, g.m+1, g.m)
	g.wide("combine", g.v(0, g.m), g.y, g.X, g.m, g.N)
}

// iteration issues iteration j, which computes vector j+1 of the basis.
func (g *gmres) iteration(j int) {
	known, w := g.v(0, j+1), g.v(j+1, j+2)
	h := g.h.Slice(int64(j*(g.m+1)), int64((j+1)*(g.m+1)))
	g.rows("spmv", g.v(j, j+1), w)
	for again := range 2 {
		g.launchShape("gmres", "project", tracer.Shape{
			Grid: ir.Dim3{X: uint32(g.blocks), Y: uint32(j + 1), Z: 1}, Block: ir.Dim3{X: threads, Y: 1, Z: 1},
		}, known, w, g.partial, g.N)
		g.launch("gmres", "coefficients", j+1, warpsFor(g.blocks), g.partial, g.blocks, g.c, h, again)
		g.wide("orthogonalize", known, g.c, w, g.norms, j+1, g.N)
	}
	g.one("rotate", g.norms, g.blocks, j, h, g.cosine, g.sine, g.g, g.inverse, g.used, g.limits, g.history, g.state)
	g.wide("scale", g.inverse, w, w, g.N)
}
