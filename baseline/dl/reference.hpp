// What the siamese network should have computed, on the CPU and in double precision.
#pragma once

#include <cstddef>
#include <vector>

namespace dl {

// The layers of both networks: convolution, pooling, convolution.
constexpr int diameter = 3, stride = 2, filters_1 = 8, filters_2 = 16, pool = 5;

// Volume is an image of several channels, row-major, the channels of a pixel together.
struct Volume {
	std::size_t rows, cols, channels;
	std::vector<double> data;

	double at(std::size_t i, std::size_t j, std::size_t channel) const { return data[(i * cols + j) * channels + channel]; }
};

// Network is one of the two: an image and its weights.
struct Network {
	std::vector<float> image, weights_1, weights_2;
};

// Answer is what a network pair makes of its images.
struct Answer {
	std::vector<double> features; // of both
	double res = 0;
	double magnitude = 0; // of all that was added up for res
};

// answer runs two images of n x n pixels through their networks and the dense layer.
Answer answer(const Network &x, const Network &y, std::size_t n, const std::vector<float> &dense);

} // namespace dl
