#include "bs.hpp"

#include <algorithm>

#include "compare.hpp"
#include "reference.hpp"

REPRISE_PTX(bs);

namespace bs {
namespace {

// A price of some 10 is the difference of terms of some 40, and the kernel's logarithm and exponentials are exact to a
// unit in the last place or two.
constexpr double tolerance = 1e-11;

// The logarithm of zero, which memory holds on a sampled device, is a shorter way through the code than that of a
// price. A sampled block runs the first turns of its loop, which are within so many options, and leaps over the rest.
constexpr std::size_t steered = 1 << 22;

std::string fits(long n) {
	if (n <= 1 << 30)
		return "";
	return "bs takes vectors of 1 to 2^30 options, not " + std::to_string(n);
}

// spot prices are around the strike, by up to a half.
std::vector<double> spot_prices(int number, std::uint64_t seed, std::size_t n) {
	const Sequence random("bs/x" + std::to_string(number), seed);
	std::vector<double> spot(n);
	for (std::size_t i = 0; i < n; i++)
		spot[i] = 59.5 + random.float64(i);
	return spot;
}

} // namespace

Options::Options(Memory &memory, const Kernel &kernel, const Params &p, int number)
	: x(memory.transferred<double>(p.n())), y(memory.transferred<double>(p.n())), upload_x(upload(memory, x)),
	  price(launch(kernel, linear(p.blocks, p.threads), x, y, static_cast<int>(p.size), rate, volatility, years, strike)),
	  download_y(download(y)) {
	if (p.sampled)
		return;
	spot = spot_prices(number, p.seed, p.n());
	want = prices(spot);
}

Bs::Bs(const Device &device, const Params &p) : Workload(device, p), kernel_(ptx_bs, "bs") {
	for (int m = 0; m < vectors; m++)
		options_.emplace_back(memory_, kernel_, p, m);
}

std::vector<const Op *> Bs::serial() const {
	std::vector<const Op *> ops;
	for (const auto &o : options_)
		ops.insert(ops.end(), {&o.upload_x, &o.price, &o.download_y});
	return ops;
}

void Bs::reset() {
	for (const auto &o : options_) {
		memory_.poison({o.y});
		memory_.refill(o.x, o.spot);
	}
}

void Bs::steer() {
	for (int m = 0; m < vectors; m++) {
		memory_.write(options_[static_cast<std::size_t>(m)].x, spot_prices(m, params_.seed, std::min(params_.n(), steered)));
	}
}

Checked Bs::check(int) {
	Comparison c;
	for (int m = 0; m < vectors; m++) {
		const auto &o = options_[static_cast<std::size_t>(m)];
		c.of("y" + std::to_string(m), memory_.read(o.y), o.want, [](double) { return tolerance; });
	}
	return c.found();
}

std::uint64_t Bs::hash() const {
	std::uint64_t h = 0;
	for (const auto &o : options_)
		h = reprise::hash(h, o.spot);
	return h;
}

} // namespace bs

int main(int argc, char **argv) {
	return reprise::run({"bs", 1 << 17, 256, reprise::per_sm, bs::fits, reprise::make<bs::Bs>}, argc, argv);
}
