#include "vec.hpp"

#include <cmath>
#include <sstream>

REPRISE_PTX(square);
REPRISE_PTX(reduce);

namespace vec {
namespace {

// For blocks of one warp. reduce adds one float per warp, and each of these additions may lose half a unit in the
// last place, 2.4e-7 where res is: larger blocks are allowed as much per warp.
constexpr double tolerance = 1e-4;

std::string fits(long n) {
	if (n <= 1 << 30)
		return "";
	return "vec takes 1 to 2^30 elements, not " + std::to_string(n);
}

// Fills x and y, and returns what comes of them.
double fill(std::vector<float> &x, std::vector<float> &y) {
	double sum = 0;
	for (std::size_t i = 0; i < x.size(); i++) {
		const auto k = static_cast<double>(i + 1);
		x[i] = static_cast<float>(1 / k);
		y[i] = static_cast<float>(2 / k);
		sum += static_cast<double>(x[i]) * static_cast<double>(x[i]) - static_cast<double>(y[i]) * static_cast<double>(y[i]);
	}
	return sum;
}

} // namespace

Vec::Vec(const Device &device, const Params &p)
	: Workload(device, p), square_(ptx_square, "square"), reduce_(ptx_reduce, "reduce"),
	  x_(memory_.transferred<float>(p.n())), y_(memory_.transferred<float>(p.n())), res_(memory_.twinned<float>(1)),
	  x1_(memory_.device<float>(p.n())), y1_(memory_.device<float>(p.n())) {
	const auto shape = linear(p.blocks, p.threads);
	const auto n = static_cast<int>(p.size);
	upload_x_ = upload(memory_, x_);
	upload_y_ = upload(memory_, y_);
	clear_res_ = clear(res_);
	square_x_ = launch(square_, shape, x_, x1_, n);
	square_y_ = launch(square_, shape, y_, y1_, n);
	reduce_xy_ = launch(reduce_, shape, x1_, y1_, res_, n);
	fetch_res_ = fetch(res_);
	if (p.sampled)
		return;
	x_data_.resize(p.n());
	y_data_.resize(p.n());
	want_ = fill(x_data_, y_data_);
}

std::vector<const Op *> Vec::serial() const {
	return {&upload_x_, &upload_y_, &clear_res_, &square_x_, &square_y_, &reduce_xy_, &fetch_res_};
}

void Vec::reset() {
	memory_.refill(x_, x_data_);
	memory_.refill(y_, y_data_);
	memory_.poison({x1_, y1_, res_});
}

Checked Vec::check(int) {
	const auto got = static_cast<double>(memory_.read(res_)[0]);
	const auto allowed = tolerance * (params_.threads / 32);
	Checked c;
	c.max_error = std::abs(got - want_);
	if (!(c.max_error <= allowed)) {
		std::ostringstream text;
		text << "res = " << got << ", want " << want_ << " within " << allowed;
		c.error = text.str();
	}
	return c;
}

std::uint64_t Vec::hash() const {
	return reprise::hash(reprise::hash(0, x_data_), y_data_);
}

} // namespace vec

int main(int argc, char **argv) {
	return reprise::run({"vec", 1 << 20, 32, reprise::per_sm, vec::fits, reprise::make<vec::Vec>}, argc, argv);
}
