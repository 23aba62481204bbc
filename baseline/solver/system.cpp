#include "system.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

REPRISE_PTX(spmv);
REPRISE_PTX(vector);
REPRISE_PTX(scalar);

namespace solver {
namespace {

// As package solver launches its kernels.
constexpr int threads = 256, most_blocks = 1024;
constexpr double divergence = 1e5;

int blocks_for(int n) { return std::max(1, std::min((n + threads - 1) / threads, most_blocks)); }

int lanes_for(const Matrix &a) {
	int lanes = 1;
	while (lanes < 32 && static_cast<long>(a.val.size()) >= 3L * lanes * a.rows())
		lanes *= 2;
	return lanes;
}

double norm(const std::vector<double> &v) {
	double sum = 0;
	for (const auto x : v)
		sum += x * x;
	return std::sqrt(sum);
}

double square(double x) { return x * x; }

} // namespace

std::vector<double> Matrix::times(const std::vector<double> &x) const {
	std::vector<double> y(x.size());
	for (std::size_t i = 0; i < y.size(); i++)
		for (auto k = static_cast<std::size_t>(ptr[i]); k < static_cast<std::size_t>(ptr[i + 1]); k++)
			y[i] += val[k] * x[static_cast<std::size_t>(col[k])];
	return y;
}

Matrix poisson2d(int side) {
	Matrix a;
	a.ptr.push_back(0);
	const auto put = [&a](int column, double value) {
		a.col.push_back(column);
		a.val.push_back(value);
	};
	for (int y = 0; y < side; y++) {
		for (int x = 0; x < side; x++) {
			const auto i = y * side + x;
			if (y > 0)
				put(i - side, -1);
			if (x > 0)
				put(i - 1, -1);
			put(i, 4);
			if (x + 1 < side)
				put(i + 1, -1);
			if (y + 1 < side)
				put(i + side, -1);
			a.ptr.push_back(static_cast<int>(a.col.size()));
		}
	}
	return a;
}

// Arrays are allocated in the order in which Go does, on whose addresses the simulator's times depend.
Cg::Cg(const Device &device, Matrix a, double tolerance, int most)
	: a_(std::move(a)), most_(most), scale_(std::ldexp(1, -std::ilogb(std::sqrt(a_.rows())))),
	  norm_(norm(std::vector<double>(static_cast<std::size_t>(a_.rows()), scale_))),
	  limits_values_{square(tolerance * norm_), square(divergence * norm_)}, memory_(device, reprise::Mode::pinned),
	  xpay_(ptx_vector, "xpay"), spmv_dot_(ptx_spmv, "spmv_dot"), cg_alpha_(ptx_scalar, "cg_alpha"),
	  minus_norm_(ptx_vector, "minus_norm"), axpy_(ptx_vector, "axpy"), cg_beta_(ptx_scalar, "cg_beta") {
	const auto rows = a_.rows(), lanes = lanes_for(a_);
	const auto row_blocks = blocks_for(rows * lanes), vector_blocks = blocks_for(rows);
	const auto n = static_cast<std::size_t>(rows);
	ptr_ = memory_.device<int>(a_.ptr.size());
	col_ = memory_.device<int>(a_.col.size());
	val_ = memory_.device<double>(a_.val.size());
	x_ = memory_.device<double>(n);
	running_ = memory_.device<double>(1);
	state_ = memory_.twinned<int>(sizeof(State) / sizeof(int));
	limits_ = memory_.device<double>(limits_values_.size());
	history_ = memory_.device<double>(static_cast<std::size_t>(most));
	r_ = memory_.device<double>(n);
	p_ = memory_.device<double>(n);
	beta_ = memory_.device<double>(1);
	rho_ = memory_.device<double>(1);
	q_ = memory_.device<double>(n);
	alpha_ = memory_.device<double>(1);
	curvature_ = memory_.device<double>(static_cast<std::size_t>(row_blocks));
	norms_ = memory_.device<double>(static_cast<std::size_t>(vector_blocks));

	const auto vectors = reprise::linear(vector_blocks, threads), all_rows = reprise::linear(row_blocks, threads);
	const auto one = [](int blocks) { return reprise::linear(1, std::min(threads, (blocks + 31) / 32 * 32)); };
	direct_ = launch(xpay_, vectors, r_, beta_, p_, rows);
	apply_ = launch(spmv_dot_, all_rows, ptr_, col_, val_, p_, p_, q_, curvature_, lanes, rows);
	alpha_op_ = launch(cg_alpha_, one(row_blocks), curvature_, row_blocks, rho_, alpha_, state_);
	reduce_ = launch(minus_norm_, vectors, alpha_, q_, r_, norms_, rows);
	step_ = launch(axpy_, vectors, alpha_, p_, x_, rows);
	beta_op_ = launch(cg_beta_, one(vector_blocks), norms_, norms_, vector_blocks, rho_, beta_, limits_, history_, state_);
	look_ = reprise::fetch(state_);
}

void Cg::reset() {
	const auto n = static_cast<std::size_t>(a_.rows());
	const std::vector<double> zero(n), b(n, scale_);
	memory_.write(ptr_, a_.ptr);
	memory_.write(col_, a_.col);
	memory_.write(val_, a_.val);
	memory_.write(x_, zero);
	memory_.write(running_, std::vector<double>{1});
	memory_.write(state_, std::vector<int>{running, 0, most_, 0});
	memory_.write(limits_, std::vector<double>(limits_values_.begin(), limits_values_.end()));
	memory_.write(r_, b);
	memory_.write(p_, zero);
	memory_.write(beta_, std::vector<double>{0});
	double rho = 0;
	for (const auto v : b)
		rho += v * v;
	memory_.write(rho_, std::vector<double>{rho});
}

State Cg::state() const {
	State s;
	std::memcpy(&s, state_.host, sizeof s);
	return s;
}

double Cg::residual(int iterations) {
	if (iterations == 0)
		return 1;
	const auto last = memory_.peek(history_.slice(static_cast<std::size_t>(iterations - 1), static_cast<std::size_t>(iterations)));
	return std::sqrt(last[0]) / norm_;
}

double Cg::true_residual() {
	auto r = a_.times(memory_.peek(x_));
	for (auto &v : r)
		v = scale_ - v;
	return norm(r) / norm_;
}

} // namespace solver
