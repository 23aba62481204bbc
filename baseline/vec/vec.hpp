// Vector Squares: res = sum of x[i]^2 - y[i]^2, by two independent kernels and one that joins them.
#pragma once

#include "workload.hpp"

namespace vec {

using namespace reprise;

class Vec : public Workload {
public:
	Vec(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void reset() override;
	Checked check(int) override;
	std::uint64_t hash() const override;

private:
	Kernel square_, reduce_;
	Array<float> x_, y_, res_, x1_, y1_;
	Op upload_x_, upload_y_, clear_res_, square_x_, square_y_, reduce_xy_, fetch_res_;

	std::vector<float> x_data_, y_data_;
	double want_ = 0;
};

} // namespace vec
