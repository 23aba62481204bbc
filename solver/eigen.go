package solver

import (
	"math"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Power is the power method. x becomes an eigenvector of the eigenvalue with the greatest absolute value, which is
// Result.Eigenvalue. It starts from b or Options.X0. It converges if there is exactly one such eigenvalue and the
// start is not orthogonal to its eigenvectors. The residual is ‖Ax-λx‖/‖Ax‖. The solution has norm 1.
var Power = Method{
	Name: "power", Doc: "power iteration: the greatest eigenvalue, from b",
	Breakdown: "A maps the vector to zero: start elsewhere",
	Remedy:    "allow more iterations, or start elsewhere; of two eigenvalues of one size it finds neither",
	Trace:     tracePower, problem: powerProblem,
}

// HITS is the method of hubs and authorities (J. Kleinberg, 1999) for the directed graph whose edge from i to j is
// element (i, j): the power method for AAᵀ. The solution x holds the hubs, and Result.Authorities is Aᵀx. Both have
// norm 1.
var HITS = Method{
	Name: "hits", Doc: "hubs and authorities of a graph, from b",
	Breakdown: Power.Breakdown, Remedy: Power.Remedy,
	Trace: tracePower, problem: hitsProblem,
}

func powerProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	return eigenProblem(a, nil, b, o)
}

func hitsProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	p, err := eigenProblem(a, a.Transpose(), b, o)
	if err != nil {
		return nil, err
	}
	conclude := p.conclude
	p.conclude = func(x []float64, res *Result) []float64 {
		x = conclude(x, res)
		authorities := make([]float64, len(x))
		p.other.Mul(authorities, x)
		res.Authorities = unit(authorities)
		return x
	}
	return p, nil
}

// eigenProblem returns the eigenvalue problem of a, or of a times first, which has the same elements.
func eigenProblem(a, first *sparse.CSR, b []float64, o *Options) (*problem, error) {
	a, up := tamed(a)
	if first != nil {
		first, _ = tamed(first)
		up *= 2
	}
	apply := func(x []float64) []float64 {
		if first != nil {
			y := make([]float64, len(x))
			first.Mul(y, x)
			x = y
		}
		y := make([]float64, len(x))
		a.Mul(y, x)
		return y
	}
	// about returns the Rayleigh quotient of x, which has norm 1, and the norm of the residual.
	about := func(x []float64) (value, far float64) {
		y := apply(x)
		value = dot(x, y)
		rest := make([]float64, len(x))
		for i := range x {
			rest[i] = y[i] - value*x[i]
		}
		if size := norm(y); size > 0 {
			return value, norm(rest) / size
		}
		return 0, 0 // x is an eigenvector of eigenvalue 0
	}
	start := b
	if o.X0 != nil {
		start = o.X0
	}
	p := &problem{a: a, other: first, x0: unit(start), norm: 1}
	if norm(p.x0) == 0 {
		return nil, &BreakdownError{Method: o.Method.Name, Iteration: 1, What: "the vector to start from is zero"}
	}
	if norm(apply(p.x0)) == 0 {
		return nil, &BreakdownError{Method: o.Method.Name, Iteration: 1, What: o.Method.Breakdown}
	}
	_, p.start = about(p.x0)
	p.conclude = func(x []float64, res *Result) []float64 {
		x = unit(x)
		res.Eigenvalue, res.TrueResidual = about(x)
		res.Eigenvalue = math.Ldexp(res.Eigenvalue, -up)
		return x
	}
	return p, nil
}

func tracePower(s *System) func() {
	s.use("eigen")
	y, through := s.Temporary("y"), s.X
	norms, products := s.twoSums("sums", s.rowBlocks())
	value, inverse := s.TemporaryScalar("value"), s.TemporaryScalar("inverse")
	changes := s.sums("changes", s.vectorBlocks(), 1)
	var first matrix
	if s.p.other != nil {
		first, through = s.matrix("first", s.p.other), s.Temporary("through")
	}
	return func() {
		if s.p.other != nil {
			s.over(first, "spmv", "spmv", s.X, through)
		}
		s.rows("spmv_dots", through, s.X, y, norms, products)
		s.launch("eigen", "eigen_scale", 1, warpsFor(s.rowBlocks()), norms, products, s.rowBlocks(), value, inverse, s.state)
		s.launch("eigen", "eigen_next", s.vectorBlocks(), threads, value, inverse, y, s.X, changes, s.state, s.N)
		s.scalar("check", s.vectorBlocks(), changes, s.vectorBlocks(), s.Running, s.limits, s.history)
	}
}

// PageRank ranks the pages of a graph of links (L. Page et al., 1999). Element (i, j) is the weight of the link from
// i to j. The ranks are the stationary distribution of a random surfer. With probability Options.Damping the surfer
// follows a link of the page. Otherwise, or on a page without links, the surfer goes to a random page with a
// probability proportional to b. Ranks add up to 1. The residual is the change of an iteration divided by the norm of
// these probabilities.
var PageRank = Method{
	Name: "pagerank", Doc: "PageRank of a graph of links, with b as the teleport vector",
	Remedy: "allow more iterations, or a smaller damping",
	Trace:  tracePageRank, problem: rankProblem,
}

func rankProblem(a *sparse.CSR, b []float64, o *Options) (*problem, error) {
	for _, weights := range []struct {
		name   string
		values []float64
	}{{"b", b}, {"x0", o.X0}} {
		for i, v := range weights.values {
			if v < 0 {
				return nil, &DistributionError{What: weights.name, Row: i, Value: v}
			}
		}
	}
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, v := range vals {
			if v < 0 {
				return nil, &DistributionError{What: "the matrix", Row: i, Col: int(cols[k]), Value: v}
			}
		}
	}
	p := &problem{a: follow(a), b: distribution(b)}
	if sum(p.b) == 0 {
		return nil, &DistributionError{What: "b"}
	}
	p.x0, p.norm = p.b, norm(p.b)
	if x0 := distribution(o.X0); sum(x0) > 0 {
		p.x0 = x0
	}
	damping := o.Damping
	change := func(x []float64) float64 {
		y := make([]float64, len(x))
		p.a.Mul(y, x)
		share := 1 - damping*sum(y)
		for i := range y {
			y[i] = damping*y[i] + share*p.b[i] - x[i]
		}
		return norm(y) / p.norm
	}
	p.start = change(p.x0)
	p.conclude = func(x []float64, res *Result) []float64 {
		res.TrueResidual = change(x)
		return x
	}
	return p, nil
}

// distribution returns the weights divided by their sum, or zeros if all are 0.
func distribution(weights []float64) []float64 {
	weights = shifted(weights, -exponent(weights))
	if s := sum(weights); s > 0 {
		return scaled(weights, 1/s)
	}
	return weights
}

// follow returns the transpose of a with its rows scaled to sum 1: element (j, i) is the probability of going from i
// to j.
func follow(a *sparse.CSR) *sparse.CSR {
	rows := *a
	rows.Val = append([]float64(nil), a.Val...)
	for i := range a.Rows {
		_, vals := rows.Row(i)
		copy(vals, shifted(vals, -exponent(vals)))
		if s := sum(vals); s > 0 {
			for k := range vals {
				vals[k] /= s
			}
		}
	}
	return rows.Transpose()
}

func tracePageRank(s *System) func() {
	s.use("eigen")
	b, y := s.floats("b", ir.Constant, s.p.b), s.Temporary("y")
	ones := make([]float64, s.N)
	for i := range ones {
		ones[i] = 1
	}
	one := s.floats("ones", ir.Constant, ones)
	damping, share := s.floats("damping", ir.Constant, []float64{s.damping}), s.TemporaryScalar("share")
	followed := s.sums("followed", s.rowBlocks(), 1)
	changes := s.sums("changes", s.vectorBlocks(), 1)
	return func() {
		s.rows("spmv_dot", s.X, one, y, followed)
		s.launch("eigen", "rank_share", 1, warpsFor(s.rowBlocks()), followed, s.rowBlocks(), damping, share)
		s.launch("eigen", "rank_next", s.vectorBlocks(), threads, damping, share, b, y, s.X, changes, s.state, s.N)
		s.scalar("check", s.vectorBlocks(), changes, s.vectorBlocks(), s.Running, s.limits, s.history)
	}
}
