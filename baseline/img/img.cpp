#include "img.hpp"

#include <cmath>
#include <sstream>

#include "reference.hpp"

REPRISE_PTX(gaussian_blur);
REPRISE_PTX(sobel);
REPRISE_PTX(maximum);
REPRISE_PTX(minimum);
REPRISE_PTX(extend);
REPRISE_PTX(unsharpen);
REPRISE_PTX(combine);

namespace img {
namespace {

constexpr int side = 8; // of a two-dimensional block
constexpr double tolerance = 1e-4;

// Fewer blocks than fill the device, which leave room for several kernels at once.
int blocks(int sms) {
	if (sms < 16)
		return 12;
	return sms < 40 ? 16 : 32;
}

std::string fits(long n) {
	if (n <= 16384)
		return "";
	return "img takes images of 1 to 16384 pixels per side, not " + std::to_string(n);
}

std::vector<float> narrow(const std::vector<double> &wide) {
	std::vector<float> v;
	for (const auto x : wide)
		v.push_back(static_cast<float>(x));
	return v;
}

} // namespace

Kernels::Kernels()
	: blur(ptx_gaussian_blur, "gaussian_blur"), sobel(ptx_sobel, "sobel"), maximum(ptx_maximum, "maximum"),
	  minimum(ptx_minimum, "minimum"), extend(ptx_extend, "extend"), unsharpen(ptx_unsharpen, "unsharpen"),
	  combine(ptx_combine, "combine") {}

Img::Img(const Device &device, const Params &p)
	: Workload(device, p), extrema_(memory_.device<float>(2)), image_(plane()), blurred_small_(plane()),
	  filter_small_(memory_.device<float>(3 * 3)), blurred_large_(plane()), filter_large_(memory_.device<float>(5 * 5)),
	  blurred_unsharpen_(plane()), filter_unsharpen_(memory_.device<float>(3 * 3)), mask_small_(plane()), mask_large_(plane()),
	  sharp_(plane()), mix_(plane()), out_(memory_.transferred<float>(p.n() * p.n())) {
	make_ops();
	if (p.sampled)
		return;
	image_data_.resize(p.n() * p.n());
	const Sequence pixels("img/image", p.seed);
	for (std::size_t i = 0; i < image_data_.size(); i++)
		image_data_[i] = pixels.float32(i);
	const Filters filters;
	filter_small_data_ = narrow(filters.small.weights);
	filter_large_data_ = narrow(filters.large.weights);
	filter_unsharpen_data_ = narrow(filters.unsharpen.weights);
	want_ = pipeline(image_data_, p.n(), filters);
}

void Img::make_ops() {
	const auto &k = kernels_;
	const auto n = static_cast<int>(params_.size), px = n * n;
	const auto line = linear(params_.blocks, params_.threads);
	const auto plane = square(params_.blocks / 2, side);
	const auto blur = [&](int diameter) {
		return square(params_.blocks / 2, side, static_cast<unsigned>(diameter * diameter) * sizeof(float));
	};
	const auto maximum = extrema_.slice(0, 1), minimum = extrema_.slice(1, 2);

	clear_extrema_ = clear(extrema_);
	blur_small_ = launch(k.blur, blur(3), image_, blurred_small_, n, n, filter_small_, 3);
	blur_large_ = launch(k.blur, blur(5), image_, blurred_large_, n, n, filter_large_, 5);
	blur_unsharpen_ = launch(k.blur, blur(3), image_, blurred_unsharpen_, n, n, filter_unsharpen_, 3);
	sobel_small_ = launch(k.sobel, plane, blurred_small_, mask_small_, n, n);
	sobel_large_ = launch(k.sobel, plane, blurred_large_, mask_large_, n, n);
	maximum_ = launch(k.maximum, line, mask_large_, maximum, px);
	minimum_ = launch(k.minimum, line, mask_large_, minimum, px);
	extend_ = launch(k.extend, line, mask_large_, minimum, maximum, px);
	unsharpen_ = launch(k.unsharpen, line, image_, blurred_unsharpen_, sharp_, static_cast<float>(amount), px);
	combine_large_ = launch(k.combine, line, sharp_, blurred_large_, mask_large_, mix_, px);
	prefetch_out_ = prefetch(memory_, out_);
	combine_small_ = launch(k.combine, line, mix_, blurred_small_, mask_small_, out_, px);
	download_out_ = download(out_);
}

std::vector<const Op *> Img::serial() const {
	return {&clear_extrema_, &blur_small_, &blur_large_, &blur_unsharpen_, &sobel_small_,  &sobel_large_,	 &maximum_,
			&minimum_,		 &extend_,	   &unsharpen_,	 &combine_large_,  &prefetch_out_, &combine_small_, &download_out_};
}

void Img::load() {
	memory_.write(image_, image_data_);
	memory_.write(filter_small_, filter_small_data_);
	memory_.write(filter_large_, filter_large_data_);
	memory_.write(filter_unsharpen_, filter_unsharpen_data_);
}

void Img::reset() {
	memory_.poison({extrema_, blurred_small_, blurred_large_, blurred_unsharpen_, mask_small_, mask_large_, sharp_, mix_});
	memory_.poison_home(out_);
}

Checked Img::check(int) {
	const auto *got = memory_.read(out_);
	Checked c;
	for (std::size_t i = 0; i < want_.size(); i++) {
		const auto difference = std::abs(static_cast<double>(got[i]) - want_[i]);
		if (!(difference <= tolerance) && c.error.empty()) {
			std::ostringstream text;
			text << "image3[" << i / params_.n() << "][" << i % params_.n() << "] = " << got[i] << ", want " << want_[i] << " within " << tolerance;
			c.error = text.str();
		}
		if (!(difference <= c.max_error))
			c.max_error = difference;
	}
	return c;
}

std::uint64_t Img::hash() const {
	auto h = reprise::hash(0, image_data_);
	h = reprise::hash(h, filter_small_data_);
	h = reprise::hash(h, filter_large_data_);
	return reprise::hash(h, filter_unsharpen_data_);
}

} // namespace img

int main(int argc, char **argv) {
	return reprise::run({"img", 512, 256, img::blocks, img::fits, reprise::make<img::Img>}, argc, argv);
}
