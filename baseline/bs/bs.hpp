// Black–Scholes: call prices for ten vectors of spot prices, which have nothing to do with each other.
#pragma once

#include "workload.hpp"

namespace bs {

using namespace reprise;

constexpr int vectors = 10;

// Options is a vector of options, and the operations that price it.
struct Options {
	Options(Memory &memory, const Kernel &kernel, const Params &p, int number);

	Array<double> x, y;
	Op upload_x, price, download_y;

	std::vector<double> spot, want;
};

class Bs : public Workload {
public:
	Bs(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void reset() override;
	void steer() override;
	Checked check(int) override;
	std::uint64_t hash() const override;

private:
	Kernel kernel_;
	std::vector<Options> options_;
};

} // namespace bs
