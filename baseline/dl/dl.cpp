#include "dl.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

REPRISE_PTX(conv2d);
REPRISE_PTX(mean_pooling);
REPRISE_PTX(concat);
REPRISE_PTX(dot_product);

namespace dl {
namespace {

constexpr int side = 8, side_3d = 4;	// of blocks
constexpr double tolerance = 1e-4;		// of features, sums of 72 products near 1
constexpr double share = 1e-6;			// of the magnitude of what is added up for res, which has both signs

constexpr std::size_t weights_1 = filters_1 * diameter * diameter, weights_2 = filters_2 * diameter * diameter * filters_1;

// The benchmark's own rule.
int blocks(int sms) { return sms < 16 ? 16 : per_sm(sms); }

std::string fits(long n) {
	if (n >= 20 && n <= 32000)
		return "";
	return "dl takes images of 20 to 32000 pixels per side, not " + std::to_string(n);
}

// tiles is how many blocks of that side cover an axis, at most some.
unsigned tiles(int most, int block, int extent) {
	return static_cast<unsigned>(std::max(1, std::min(most, (extent + block - 1) / block)));
}

Shape plane(int most, const Window &w, int filters) {
	const auto n = tiles(most, side, w.out());
	return {{n, n}, {side, side}, static_cast<unsigned>(filters * w.size * w.size * w.channels) * static_cast<unsigned>(sizeof(float))};
}

Shape volume(int most, const Window &w) {
	const auto n = tiles(most, side_3d, w.out());
	return {{n, n, tiles(most, side_3d, w.channels)}, {side_3d, side_3d, side_3d}};
}

std::vector<float> uniform(const std::string &array, std::uint64_t seed, std::size_t n) {
	const Sequence s("dl/" + array, seed);
	std::vector<float> v(n);
	for (std::size_t i = 0; i < n; i++)
		v[i] = s.float32(i);
	return v;
}

std::vector<float> uniform_signed(const std::string &array, std::uint64_t seed, std::size_t n) {
	auto v = uniform(array, seed, n);
	for (auto &x : v)
		x = 2 * x - 1;
	return v;
}

} // namespace

Layers::Layers(long n)
	: conv_1{static_cast<int>(n), 1, diameter, stride}, pool{conv_1.out(), filters_1, dl::pool, dl::pool},
	  conv_2{pool.out(), filters_1, diameter, stride},
	  features(static_cast<std::size_t>(conv_2.out()) * static_cast<std::size_t>(conv_2.out()) * filters_2) {}

Kernels::Kernels()
	: conv2d(ptx_conv2d, "conv2d"), mean_pooling(ptx_mean_pooling, "mean_pooling"), concat(ptx_concat, "concat"),
	  dot_product(ptx_dot_product, "dot_product") {}

Dl::Dl(const Device &device, const Params &p) : Workload(device, p), layers_(p.size) {
	allocate();
	make_ops();
	if (!p.sampled)
		generate();
}

// In the order of their first use.
void Dl::allocate() {
	const auto pixels = params_.n() * params_.n();
	x_.image = memory_.transferred<float>(pixels);
	res_ = memory_.twinned<float>(1);
	allocate(x_);
	y_.image = memory_.transferred<float>(pixels);
	allocate(y_);
	z_ = memory_.device<float>(2 * layers_.features);
	dense_ = memory_.device<float>(2 * layers_.features);
}

void Dl::allocate(Branch &b) {
	const auto places = [](const Window &w) { return static_cast<std::size_t>(w.out()) * static_cast<std::size_t>(w.out()); };
	b.convolved = memory_.device<float>(places(layers_.conv_1) * filters_1);
	b.weights_1 = memory_.device<float>(weights_1);
	b.pooled = memory_.device<float>(places(layers_.pool) * filters_1);
	b.features = memory_.device<float>(layers_.features);
	b.weights_2 = memory_.device<float>(weights_2);
}

void Dl::make_ops() {
	make_ops(x_);
	make_ops(y_);
	const auto line = linear(params_.blocks, params_.threads);
	const auto n = static_cast<int>(layers_.features);
	clear_res_ = clear(res_);
	concat_ = launch(kernels_.concat, line, z_, x_.features, y_.features, n);
	dot_ = launch(kernels_.dot_product, line, z_, dense_, res_, 2 * n);
	fetch_res_ = fetch(res_);
}

void Dl::make_ops(Branch &b) {
	const auto convolve = [&](const Array<float> &out, const Array<float> &in, const Array<float> &weights, const Window &w, int filters) {
		const auto shape = plane(std::max(1, params_.blocks / 2), w, filters);
		return launch(kernels_.conv2d, shape, out, in, weights, w.n, w.n, w.channels, w.size, filters, w.step);
	};
	const auto &p = layers_.pool;
	b.upload_image = upload(memory_, b.image);
	b.convolve_image = convolve(b.convolved, b.image, b.weights_1, layers_.conv_1, filters_1);
	b.pool = launch(kernels_.mean_pooling, volume(std::max(1, params_.blocks / 4), p), b.pooled, b.convolved, p.n, p.n, p.channels, p.size, p.step);
	b.convolve_pooled = convolve(b.features, b.pooled, b.weights_2, layers_.conv_2, filters_2);
}

void Dl::generate() {
	const auto seed = params_.seed;
	const auto pixels = params_.n() * params_.n(), n = 2 * layers_.features;
	x_data_ = {uniform("x", seed, pixels), uniform_signed("kernel_1", seed, weights_1), uniform_signed("kernel_2", seed, weights_2)};
	y_data_ = {uniform("y", seed, pixels), uniform_signed("kernel_3", seed, weights_1), uniform_signed("kernel_4", seed, weights_2)};
	dense_data_ = uniform_signed("dense_weights", seed, n);
	for (auto &w : dense_data_)
		w /= static_cast<float>(n);
	want_ = answer(x_data_, y_data_, params_.n(), dense_data_);
}

std::vector<const Op *> Dl::serial() const {
	return {&x_.upload_image, &clear_res_, &x_.convolve_image, &x_.pool, &x_.convolve_pooled, &y_.upload_image,
			&y_.convolve_image, &y_.pool, &y_.convolve_pooled, &concat_, &dot_, &fetch_res_};
}

void Dl::load() {
	memory_.write(x_.weights_1, x_data_.weights_1);
	memory_.write(x_.weights_2, x_data_.weights_2);
	memory_.write(y_.weights_1, y_data_.weights_1);
	memory_.write(y_.weights_2, y_data_.weights_2);
	memory_.write(dense_, dense_data_);
}

void Dl::reset() {
	memory_.refill(x_.image, x_data_.image);
	memory_.refill(y_.image, y_data_.image);
	memory_.poison({res_, x_.convolved, x_.pooled, x_.features, y_.convolved, y_.pooled, y_.features, z_});
}

// An error in some features hardly shows in res, so they are compared too.
Checked Dl::check(int) {
	Checked c;
	std::ostringstream text;
	const auto compare = [&](const auto &name, double got, double want, double allowed) {
		const auto d = std::abs(got - want);
		if (!(d <= c.max_error))
			c.max_error = d;
		if (!(d <= allowed) && text.tellp() == 0)
			text << name() << " = " << got << ", want " << want << " within " << allowed;
	};
	const auto z = memory_.peek(z_);
	for (std::size_t i = 0; i < z.size(); i++)
		compare([&] { return "z[" + std::to_string(i) + "]"; }, static_cast<double>(z[i]), want_.features[i], tolerance);
	compare([] { return "res"; }, static_cast<double>(memory_.read(res_)[0]), want_.res, share * want_.magnitude);
	c.error = text.str();
	return c;
}

std::uint64_t Dl::hash() const {
	std::uint64_t h = 0;
	for (const auto *array : {&x_data_.image, &x_data_.weights_1, &x_data_.weights_2, &y_data_.image, &y_data_.weights_1, &y_data_.weights_2,
							  &dense_data_})
		h = reprise::hash(h, *array);
	return h;
}

} // namespace dl

int main(int argc, char **argv) {
	return reprise::run({"dl", 300, 256, dl::blocks, dl::fits, reprise::make<dl::Dl>}, argc, argv);
}
