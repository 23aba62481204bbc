// Jacobi's method for Laplace's equation on several devices and ranks, by hand, with the kernels of
// internal/bench/scale/programs. There is a graph for each direction of a step, with the norm of the change and without.

#include "number.hpp"
#include "op.hpp"
#include "stencil.hpp"

REPRISE_PTX(jacobi);

namespace reprise::scale {
namespace {

class JacobiKernels : public Kernels {
public:
	Op step(const Grid &to, const Grid &from, Rows rows) const override {
		return launch(step_, plane(rows, to.cols), to.at, from.at, rows.first, rows.last, to.cols);
	}
	Op step_with_sums(const Grid &to, const Grid &from, Rows rows, CUdeviceptr partial) const override {
		return launch(norm_, plane(rows, to.cols), to.at, from.at, partial, rows.first, rows.last, to.cols);
	}
	Op fold(CUdeviceptr norm, CUdeviceptr partial, int blocks) const override {
		return launch(fold_, {{}, {block_cols, block_rows}}, norm, partial, blocks);
	}

private:
	const Kernel step_{ptx_jacobi, "jacobi_step"}, norm_{ptx_jacobi, "jacobi_norm"}, fold_{ptx_jacobi, "jacobi_fold"};
};

// step returns the squared norm of the change.
double step(int rows, int cols, std::vector<double> &to, const std::vector<double> &from) {
	const auto n = static_cast<std::size_t>(cols);
	double norm = 0;
	for (std::size_t y = 1; y + 1 < static_cast<std::size_t>(rows); y++)
		for (std::size_t x = 1; x + 1 < n; x++) {
			const auto i = y * n + x;
			to[i] = (from[i - 1] + from[i + 1] + from[i - n] + from[i + n]) / 4;
			norm += (to[i] - from[i]) * (to[i] - from[i]);
		}
	return norm;
}

Stencil jacobi(int rows, int cols) {
	if (rows < 3 || cols < 3)
		throw UsageError("--size: jacobi has borders and at least one element inside of them: use 3 or more");
	Stencil s;
	s.name = "jacobi", s.rows = rows, s.cols = cols, s.norm = true, s.tolerance = 1e-5;
	s.computed = {1, rows - 1};
	s.load = [] { return std::make_unique<JacobiKernels>(); };
	s.start = [n = s.elements()] {
		const Sequence random("jacobi/u", 1);
		std::vector<float> u(n);
		for (std::size_t i = 0; i < n; i++)
			u[i] = random.float32(i);
		return std::pair(u, u);
	};
	s.reference = [=](auto &to, const auto &from) { return step(rows, cols, to, from); };
	return s;
}

} // namespace
} // namespace reprise::scale

int main(int argc, char **argv) { return reprise::scale::run("jacobi", true, reprise::scale::jacobi, argc, argv); }
