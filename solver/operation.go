package solver

import "github.com/reprise-gpu/reprise/ir"

// Operations for methods. Each writes its last argument. Vectors have N elements; a and similar arguments are scalars
// on the device. After the last iteration, operations do not change what a method keeps: X, and the memory from
// Vector and Scalar.

// SpMV issues y = A x. The two must not overlap.
func (s *System) SpMV(x, y Vector) {
	s.t.Helper()
	if s.begin("SpMV", s.vectorOf(x, ir.Read), s.vectorOf(y, ir.Write)) {
		s.over(s.a, s.moduleFor("spmv", y), s.kernelFor("spmv", y), s.guarded(y, x, y)...)
		s.end()
	}
}

// Dot issues sum = x · y. The order of the additions depends only on N.
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

// Divide issues q = x / y for scalars. A division by zero is a breakdown and sets q to 0. After the last iteration a
// temporary q is set to 0.
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

// Check ends an iteration. norm is a scalar: the square of the norm of b - Ax.
func (s *System) Check(norm Vector) {
	s.t.Helper()
	if s.begin("Check", scalarOf(norm, ir.Read)) {
		s.scalar("check", 1, norm, 1, s.Running, s.limits, s.history)
		s.end()
	}
}

// update launches a vector kernel that writes y.
func (s *System) update(kernel string, y Vector, args ...any) {
	s.t.Helper()
	s.launch(s.moduleFor("vector", y), s.kernelFor(kernel, y), s.vectorBlocks(), threads, append(s.guarded(y, args...), s.N)...)
}

// kept reports whether a method keeps y between iterations. Such memory is written by the kernels of kept.cu. A
// temporary is written in full in each iteration, so its content after the last one does not matter.
func kept(y Vector) bool { return y != (Vector{}) && y.Declaration().Role != ir.Temporary }

// moduleFor and kernelFor return the module and the name of the kernel that writes y.
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

// guarded returns the arguments of the kernel that writes y, including the condition under which it writes.
func (s *System) guarded(y Vector, args ...any) []any {
	if kept(y) {
		args = append(args, s.state, s.last)
	}
	return args
}
