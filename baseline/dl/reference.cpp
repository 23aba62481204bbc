#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace dl {
namespace {

// windows makes a volume of what f gives for each place of a window, whose first pixel is (i, j), and 0 where the
// window leaves v.
template <class F> Volume windows(const Volume &v, std::size_t channels, std::size_t size, std::size_t step, F f) {
	Volume out{v.rows / step, v.cols / step, channels, {}};
	for (std::size_t i = 0; i < out.rows; i++)
		for (std::size_t j = 0; j < out.cols; j++)
			for (std::size_t m = 0; m < channels; m++)
				out.data.push_back(i * step + size <= v.rows && j * step + size <= v.cols ? f(i * step, j * step, m) : 0);
	return out;
}

Volume convolve(const Volume &v, const std::vector<float> &weights, std::size_t filters) {
	return windows(v, filters, diameter, stride, [&](std::size_t i, std::size_t j, std::size_t m) {
		const auto *w = &weights[m * diameter * diameter * v.channels];
		double sum = 0;
		for (std::size_t di = 0; di < diameter; di++)
			for (std::size_t dj = 0; dj < diameter; dj++)
				for (std::size_t l = 0; l < v.channels; l++)
					sum += static_cast<double>(*w++) * v.at(i + di, j + dj, l);
		return std::max(sum, 0.0);
	});
}

Volume means(const Volume &v) {
	return windows(v, v.channels, pool, pool, [&](std::size_t i, std::size_t j, std::size_t l) {
		double sum = 0;
		for (std::size_t di = 0; di < pool; di++)
			for (std::size_t dj = 0; dj < pool; dj++)
				sum += v.at(i + di, j + dj, l);
		return sum / (pool * pool);
	});
}

std::vector<double> features(const Network &net, std::size_t n) {
	const Volume image{n, n, 1, {net.image.begin(), net.image.end()}};
	return convolve(means(convolve(image, net.weights_1, filters_1)), net.weights_2, filters_2).data;
}

} // namespace

Answer answer(const Network &x, const Network &y, std::size_t n, const std::vector<float> &dense) {
	Answer a;
	a.features = features(x, n);
	const auto more = features(y, n);
	a.features.insert(a.features.end(), more.begin(), more.end());
	for (std::size_t i = 0; i < a.features.size(); i++) {
		const auto term = a.features[i] * static_cast<double>(dense[i]);
		a.res += term;
		a.magnitude += std::abs(term);
	}
	return a;
}

} // namespace dl
