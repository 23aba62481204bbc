package solver

// What methods are made of. Operations write their last argument; elements are those of vectors of
// N, and a and the like are scalars on the device.

// SpMV issues y = A x.
func (s *System) SpMV(x, y Vector) {
	s.t.Helper()
	s.rows("spmv", x, y)
}

// Dot issues sum = x · y, in an order of additions that depends on N alone.
func (s *System) Dot(x, y, sum Vector) {
	s.t.Helper()
	partial, ok := s.partials[sum]
	if !ok {
		partial = s.sums("partial", s.vectorBlocks(), 1)
		s.partials[sum] = partial
	}
	s.vector("dot", x, y, partial)
	s.launch("scalar", "add", 1, warpsFor(s.vectorBlocks()), partial, s.vectorBlocks(), sum)
}

// Axpy issues y = y + a x.
func (s *System) Axpy(a, x, y Vector) {
	s.t.Helper()
	s.vector("axpy", a, x, y)
}

// Subtract issues y = y - a x.
func (s *System) Subtract(a, x, y Vector) {
	s.t.Helper()
	s.vector("minus", y, a, x, y)
}

// Xpay issues y = x + a y.
func (s *System) Xpay(x, a, y Vector) {
	s.t.Helper()
	s.vector("xpay", x, a, y)
}

// Divide issues q = x / y of scalars. A division by zero is a breakdown. From the last
// iteration on q is 0: a method whose updates are all multiplied by quotients, or by Running, stands
// still from there.
func (s *System) Divide(x, y, q Vector) {
	s.t.Helper()
	s.launch("scalar", "divide", 1, 32, x, y, q, s.state)
}

// Check ends an iteration. norm is a scalar, the square of the norm of b - Ax.
func (s *System) Check(norm Vector) {
	s.t.Helper()
	s.scalar("check", 1, norm, 1, s.Running, s.limits, s.history)
}
