#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace img {
namespace {

// Image is n x n pixels with a black border, so that what looks at neighbours needs no bounds.
class Image {
public:
	explicit Image(std::size_t n) : n_(static_cast<int>(n)), pixels_((n + 2 * border) * (n + 2 * border)) {}

	double &at(int i, int j) { return pixels_[index(i, j)]; }
	double at(int i, int j) const { return pixels_[index(i, j)]; }

	// map sets every pixel of a new image.
	template <class F> static Image map(std::size_t n, F pixel) {
		Image image(n);
		for (int i = 0; i < image.n_; i++)
			for (int j = 0; j < image.n_; j++)
				image.at(i, j) = pixel(i, j);
		return image;
	}

private:
	static constexpr int border = 2;

	std::size_t index(int i, int j) const { return static_cast<std::size_t>((i + border) * (n_ + 2 * border) + j + border); }

	int n_;
	std::vector<double> pixels_;
};

Image blur(const Image &image, std::size_t n, const Filter &f) {
	const int r = f.diameter / 2;
	return Image::map(n, [&](int i, int j) {
		double sum = 0;
		for (int di = -r; di <= r; di++)
			for (int dj = -r; dj <= r; dj++)
				sum += f.weights[static_cast<std::size_t>((di + r) * f.diameter + dj + r)] * image.at(i + di, j + dj);
		return sum;
	});
}

// sobel is the magnitude of the gradient: differences along one axis of what is smoothed by 1 2 1 along the other.
Image sobel(const Image &m, std::size_t n) {
	return Image::map(n, [&](int i, int j) {
		double rows = 0, cols = 0;
		for (int d = -1; d <= 1; d++) {
			const int weight = d == 0 ? 2 : 1;
			rows += weight * (m.at(i + 1, j + d) - m.at(i - 1, j + d));
			cols += weight * (m.at(i + d, j + 1) - m.at(i + d, j - 1));
		}
		return std::hypot(rows, cols);
	});
}

// extend stretches [least, most] to [0, 5] and cuts off at 1, which is also what becomes of an image without contrast.
Image extend(const Image &m, std::size_t n) {
	double least = 0, most = 0; // the program clears both before it looks
	for (int i = 0; i < static_cast<int>(n); i++)
		for (int j = 0; j < static_cast<int>(n); j++) {
			least = std::min(least, m.at(i, j));
			most = std::max(most, m.at(i, j));
		}
	return Image::map(n, [&](int i, int j) { return std::fmin(1, 5 * (m.at(i, j) - least) / (most - least)); });
}

// combine is x where the mask is 1, and y where it is 0.
Image combine(const Image &x, const Image &y, const Image &mask, std::size_t n) {
	return Image::map(n, [&](int i, int j) { return x.at(i, j) * mask.at(i, j) + y.at(i, j) * (1 - mask.at(i, j)); });
}

} // namespace

Filter::Filter(int d, double sigma) : diameter(d) {
	double sum = 0;
	for (int i = 0; i < d; i++)
		for (int j = 0; j < d; j++) {
			const double x = i - d / 2, y = j - d / 2;
			weights.push_back(std::exp(-0.5 * (x * x + y * y) / (sigma * sigma)));
			sum += weights.back();
		}
	for (auto &w : weights)
		w /= sum;
}

std::vector<double> pipeline(const std::vector<float> &pixels, std::size_t n, const Filters &f) {
	const auto image = Image::map(n, [&](int i, int j) { return static_cast<double>(pixels[static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j)]); });
	const auto small = blur(image, n, f.small), large = blur(image, n, f.large), soft = blur(image, n, f.unsharpen);
	const auto sharp = Image::map(n, [&](int i, int j) { return std::clamp(image.at(i, j) * (1 + amount) - soft.at(i, j) * amount, 0.0, 1.0); });
	const auto mix = combine(sharp, large, extend(sobel(large, n), n), n);
	const auto out = combine(mix, small, sobel(small, n), n);
	std::vector<double> want;
	for (int i = 0; i < static_cast<int>(n); i++)
		for (int j = 0; j < static_cast<int>(n); j++)
			want.push_back(out.at(i, j));
	return want;
}

} // namespace img
