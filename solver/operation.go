package solver

import "github.com/reprise-gpu/reprise/ir"

// What methods are made of. Operations write their last argument; elements are those of vectors of
// N, and a and the like are scalars on the device. Past the last iteration they leave what a method keeps as
// it is: X, and what Vector and Scalar allocate.

// SpMV issues y = A x. The two must not overlap.
func (s *System) SpMV(x, y Vector) {
	s.t.Helper()
	if s.begin("SpMV", s.vectorOf(x, ir.Read), s.vectorOf(y, ir.Write)) {
		s.over(s.a, s.moduleFor("spmv", y), s.kernelFor("spmv", y), s.guarded(y, x, y)...)
		s.end()
	}
}

// Dot issues sum = x · y, in an order of additions that depends on N alone.
func (s *System) Dot(x, y, sum Vector) {
	s.t.Helper()
	if !s.begin("Dot", s.vectorOf(x, ir.Read), s.vectorOf(y, ir.Read), scalarOf(sum, ir.Write)) {
		return
	}
	partial, ok := s.partials[sum]
	if !ok {
		partial = s.sums("partial", s.vectorBlocks(), 1)
		s.partials[sum] = partial
	}
	s.vector("dot", x, y, partial)
	s.launch(s.moduleFor("scalar", sum), s.kernelFor("add", sum), 1, warpsFor(s.vectorBlocks()), s.guarded(sum, partial, s.vectorBlocks(), sum)...)
	s.end()
}

// Axpy issues y = y + a x.
func (s *System) Axpy(a, x, y Vector) {
	s.t.Helper()
	if s.begin("Axpy", scalarOf(a, ir.Read), s.vectorOf(x, ir.Read), s.vectorOf(y, ir.ReadWrite)) {
		s.update("axpy", y, a, x, y)
		s.end()
	}
}

// Subtract issues y = y - a x.
func (s *System) Subtract(a, x, y Vector) {
	s.t.Helper()
	if s.begin("Subtract", scalarOf(a, ir.Read), s.vectorOf(x, ir.Read), s.vectorOf(y, ir.ReadWrite)) {
		s.update("minus", y, y, a, x, y)
		s.end()
	}
}

// Xpay issues y = x + a y.
func (s *System) Xpay(x, a, y Vector) {
	s.t.Helper()
	if s.begin("Xpay", s.vectorOf(x, ir.Read), scalarOf(a, ir.Read), s.vectorOf(y, ir.ReadWrite)) {
		s.update("xpay", y, x, a, y)
		s.end()
	}
}

// Divide issues q = x / y of scalars. A division by zero is a breakdown, and q is 0. Past the last iteration
// a temporary q is 0.
func (s *System) Divide(x, y, q Vector) {
	s.t.Helper()
	if !s.begin("Divide", scalarOf(x, ir.Read), scalarOf(y, ir.Read), scalarOf(q, ir.Write)) {
		return
	}
	args := []any{x, y, q, s.state}
	if kept(q) {
		args = append(args, s.last)
	}
	s.launch(s.moduleFor("scalar", q), s.kernelFor("divide", q), 1, 32, args...)
	s.end()
}

// Check ends an iteration. norm is a scalar, the square of the norm of b - Ax.
func (s *System) Check(norm Vector) {
	s.t.Helper()
	if s.begin("Check", scalarOf(norm, ir.Read)) {
		s.scalar("check", 1, norm, 1, s.Running, s.limits, s.history)
		s.end()
	}
}

// update launches a kernel over vectors that writes y.
func (s *System) update(kernel string, y Vector, args ...any) {
	s.t.Helper()
	s.launch(s.moduleFor("vector", y), s.kernelFor(kernel, y), s.vectorBlocks(), threads, append(s.guarded(y, args...), s.N)...)
}

// kept reports whether a method keeps y from one iteration to the next. That is written by the kernels of kept.cu. What is
// temporary is not: all of it has to be written in each iteration, and what it holds past the last changes nothing.
func kept(y Vector) bool { return y != (Vector{}) && y.Declaration().Role != ir.Temporary }

// moduleFor and kernelFor are where the kernel is that writes y, and its name.
func (s *System) moduleFor(module string, y Vector) string {
	if !kept(y) {
		return module
	}
	s.use("kept")
	return "kept"
}

func (s *System) kernelFor(kernel string, y Vector) string {
	if kept(y) {
		return "kept_" + kernel
	}
	return kernel
}

// guarded is arguments of the kernel that writes y, up to what says whether it does.
func (s *System) guarded(y Vector, args ...any) []any {
	if kept(y) {
		args = append(args, s.state, s.last)
	}
	return args
}
