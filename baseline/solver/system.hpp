// A system of linear equations on the device, and an iteration of conjugate gradients on it by hand.
#pragma once

#include <array>
#include <vector>

#include "memory.hpp"
#include "op.hpp"

namespace solver {

using reprise::Array;
using reprise::Block;
using reprise::Device;
using reprise::Kernel;
using reprise::Op;

// Matrix is in compressed rows.
struct Matrix {
	std::vector<int> ptr, col;
	std::vector<double> val;

	int rows() const { return static_cast<int>(ptr.size()) - 1; }
	std::vector<double> times(const std::vector<double> &x) const;
};

// poisson2d is the 5-point Laplacian of side x side points.
Matrix poisson2d(int side);

// What state holds, as the kernels of scalar.cu leave it.
struct State {
	int code, iterations, most, norm;
};
enum Code { running, converged, exhausted, diverged, not_finite, broken_down };

// Cg solves A x = 1 with the kernels of solver/internal/kernels, in double precision.
class Cg {
public:
	Cg(const Device &device, Matrix a, double tolerance, int most);

	// reset sets everything to where it starts.
	void reset();

	// The operations of an iteration, in order:
	//
	//	direct ─► apply ─► alpha ─┬─► reduce ─► beta
	//	                          └─► step
	const Op &direct() const { return direct_; }
	const Op &apply() const { return apply_; }
	const Op &alpha() const { return alpha_op_; }
	const Op &reduce() const { return reduce_; }
	const Op &step() const { return step_; }
	const Op &beta() const { return beta_op_; }
	// look brings the state to the host.
	const Op &look() const { return look_; }

	// state is what the last look brought.
	State state() const;
	CUdeviceptr state_on_device() const { return state_.dev; }

	// residual is that of the norms which the method keeps up, true_residual that of the solution.
	double residual(int iterations);
	double true_residual();

private:
	const Matrix a_;
	const int most_;
	const double scale_, norm_; // of the right-hand side
	const std::array<double, 2> limits_values_;

	reprise::Memory memory_;
	const Kernel xpay_, spmv_dot_, cg_alpha_, minus_norm_, axpy_, cg_beta_;
	Array<int> ptr_, col_;
	Array<double> val_, x_, running_;
	Array<int> state_;
	Array<double> limits_, history_, r_, p_, beta_, rho_, q_, alpha_, curvature_, norms_;
	Op direct_, apply_, alpha_op_, reduce_, step_, beta_op_, look_;
};

} // namespace solver
