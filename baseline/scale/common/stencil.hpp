// What a program computes: a grid from itself, in steps.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "op.hpp"
#include "slab.hpp"

namespace reprise::scale {

// Grid is a grid of rows x cols floats on a device, row-major.
struct Grid {
	CUdeviceptr at = 0;
	int rows = 0, cols = 0;

	std::size_t row_bytes() const { return static_cast<std::size_t>(cols) * sizeof(float); }
	std::size_t bytes() const { return static_cast<std::size_t>(rows) * row_bytes(); }
	CUdeviceptr row(int y) const { return at + static_cast<std::size_t>(y) * row_bytes(); }
};

// Kernels are the kernels of a program in the context that was current when they were made.
class Kernels {
public:
	virtual ~Kernels() = default;

	// step computes rows of a grid from the same rows and their neighbours of another one.
	virtual Op step(const Grid &to, const Grid &from, Rows rows) const = 0;
	// step_with_sums is step, and stores a sum of squared changes for each block in partial.
	virtual Op step_with_sums(const Grid &to, const Grid &from, Rows rows, CUdeviceptr partial) const;
	// fold stores the sum of partial sums in norm, one double.
	virtual Op fold(CUdeviceptr norm, CUdeviceptr partial, int blocks) const;
};

// Stencil is a program of some size. A grid is computed from another one, and both change places.
struct Stencil {
	const char *name;
	int rows = 0, cols = 0;
	Rows computed;	   // the others never change
	bool norm = false; // whether it has the kernels of norms
	double tolerance = 0; // of results, relative to their greatest magnitude

	std::function<std::unique_ptr<Kernels>()> load;
	// start returns the grid that the first step computes from, and the other one.
	std::function<std::pair<std::vector<float>, std::vector<float>>()> start;
	// reference computes a step on the CPU, and returns the squared norm of the change.
	std::function<double(std::vector<double> &to, const std::vector<double> &from)> reference;

	std::size_t elements() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols); }
};

// Extents of the blocks of all kernels: 64 x 4 threads, a thread for each element.
inline constexpr unsigned block_cols = 64, block_rows = 4;

// plane is the shape of a launch over whole rows.
inline Shape plane(Rows rows, int cols) {
	const auto blocks = [](int n, unsigned threads) { return (static_cast<unsigned>(n) + threads - 1) / threads; };
	return {{blocks(cols, block_cols), blocks(rows.count(), block_rows)}, {block_cols, block_rows}};
}

inline int blocks_of(const Shape &shape) { return static_cast<int>(shape.grid.x * shape.grid.y); }

// run is the whole of a program. make returns the stencil of a size.
int run(const char *name, bool norm, const std::function<Stencil(int rows, int cols)> &make, int argc, char **argv);

} // namespace reprise::scale
