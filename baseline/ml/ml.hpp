// An ensemble of two classifiers, naive Bayes and ridge regression on normalised features: two chains of
// kernels that read the same observations.
#pragma once

#include "reference.hpp"
#include "workload.hpp"

namespace ml {

using namespace reprise;

// Kernels are loaded once each.
struct Kernels {
	Kernels();
	Kernel rr_1, nb_1, rr_2, nb_2, nb_3, rr_3, nb_4, softmax, argmax;
};

class Ml : public Workload {
public:
	Ml(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void load() override;
	void reset() override;
	Checked check(int) override;
	std::uint64_t hash() const override;

private:
	void make_ops();

	Kernels kernels_;
	// In the order of their first use.
	Array<float> r1_;
	Array<std::int32_t> x_;
	Array<float> z_, log_prob_, r2_, coeff_, amax_, l_, intercept_;
	Array<std::int32_t> r_;

	Op upload_r1_, normalise_, add_bayes_, upload_r2_, add_ridge_, find_amax_, find_l_, add_intercept_, exp_bayes_, softmax_r1_, softmax_r2_,
		choose_, download_r_;

	Observations data_;
	std::vector<float> r1_data_, r2_data_; // what the classifiers add to: the class priors, and nothing
	Ensemble want_;
};

} // namespace ml
