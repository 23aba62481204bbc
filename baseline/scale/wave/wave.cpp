// The two-dimensional wave equation on several devices and ranks, by hand, with the kernel of
// internal/bench/scale/programs. There is a graph for each direction of a step.

#include "op.hpp"
#include "stencil.hpp"

REPRISE_PTX(wave);

namespace reprise::scale {
namespace {

constexpr float courant = 0.0625f; // (dt/dy)^2 and (dt/dx)^2

class WaveKernels : public Kernels {
public:
	// The grid that is computed holds the wave one step before from.
	Op step(const Grid &to, const Grid &from, Rows rows) const override {
		return launch(step_, plane(rows, to.cols), to.at, from.at, rows.first, rows.last, to.rows, to.cols, courant, courant);
	}

private:
	const Kernel step_{ptx_wave, "wave_step"};
};

// Neighbours are the indices of an element and of those around it; the borders continue.
template <class T> struct Neighbours {
	Neighbours(const std::vector<T> &u, int rows, int cols, int y, int x)
		: here(u[at(cols, y, x)]), above(u[at(cols, std::max(y - 1, 0), x)]), below(u[at(cols, std::min(y + 1, rows - 1), x)]),
		  left(u[at(cols, y, std::max(x - 1, 0))]), right(u[at(cols, y, std::min(x + 1, cols - 1))]) {}

	static std::size_t at(int cols, int y, int x) { return static_cast<std::size_t>(y) * static_cast<std::size_t>(cols) + static_cast<std::size_t>(x); }

	// laplacian is in the order of the kernel.
	T laplacian() const {
		const T c = courant, twice = here + here;
		return c * (above + below - twice) + c * (left + right - twice);
	}

	T here, above, below, left, right;
};

double step(int rows, int cols, std::vector<double> &to, const std::vector<double> &from) {
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < cols; x++) {
			const Neighbours<double> u(from, rows, cols, y, x);
			auto &v = to[Neighbours<double>::at(cols, y, x)];
			v = 2 * u.here - v + u.laplacian();
		}
	return 0;
}

// centred maps the middles of n cells to -2 to 2.
double centred(int i, int n) { return static_cast<double>(4L * i + 2) / n - 2; }

// at_rest is a hill in the middle, on ground that is different at each point.
std::vector<float> at_rest(int rows, int cols) {
	const Sequence noise("wave/u", 1);
	std::vector<float> u;
	for (int row = 0; row < rows; row++)
		for (int col = 0; col < cols; col++) {
			const auto y = centred(row, rows), x = centred(col, cols);
			const auto slope = std::max(0.0, 1 - (y * y + x * x));
			u.push_back(static_cast<float>(slope * slope) + noise.float32(u.size()) / 16);
		}
	return u;
}

// started is the wave after its first step, which has coefficients of its own.
std::vector<float> started(const std::vector<float> &u, int rows, int cols) {
	std::vector<float> v;
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < cols; x++) {
			const Neighbours<float> n(u, rows, cols, y, x);
			v.push_back(n.here + 0.5f * n.laplacian());
		}
	return v;
}

Stencil wave(int rows, int cols) {
	Stencil s;
	s.name = "wave", s.rows = rows, s.cols = cols, s.tolerance = 1e-5;
	s.computed = {0, rows};
	s.load = [] { return std::make_unique<WaveKernels>(); };
	s.start = [=] {
		auto before = at_rest(rows, cols);
		auto now = started(before, rows, cols);
		return std::pair(std::move(now), std::move(before));
	};
	s.reference = [=](auto &to, const auto &from) { return step(rows, cols, to, from); };
	return s;
}

} // namespace
} // namespace reprise::scale

int main(int argc, char **argv) { return reprise::scale::run("wave", false, reprise::scale::wave, argc, argv); }
