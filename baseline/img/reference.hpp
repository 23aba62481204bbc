// What img should have computed, on the CPU and in doubles.
#pragma once

#include <cstddef>
#include <vector>

namespace img {

constexpr double amount = 0.5; // of sharpening

// Filter is a square of weights that add up to 1.
struct Filter {
	// A Gaussian, centred.
	Filter(int diameter, double sigma);

	int diameter;
	std::vector<double> weights; // row-major
};

struct Filters {
	Filter small{3, 1}, large{5, 10}, unsharpen{3, 5};
};

// pipeline is image3 of an image of n x n pixels.
std::vector<double> pipeline(const std::vector<float> &image, std::size_t n, const Filters &filters);

} // namespace img
