#include "ml.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

REPRISE_PTX(rr_1);
REPRISE_PTX(nb_1);
REPRISE_PTX(rr_2);
REPRISE_PTX(nb_2);
REPRISE_PTX(nb_3);
REPRISE_PTX(rr_3);
REPRISE_PTX(nb_4);
REPRISE_PTX(softmax);
REPRISE_PTX(argmax);

namespace ml {
namespace {

constexpr double tolerance = 1e-3; // sums of 200 products near 500, of which exp takes differences

// The benchmark's own rule: more blocks find no work in rr_1.
int blocks(int sms) { return sms < 40 ? 32 : 64; }

std::string fits(long n) {
	if (n <= 10'000'000)
		return "";
	return "ml takes 1 to 10 million rows, not " + std::to_string(n);
}

std::vector<float> uniform(const char *array, std::uint64_t seed, std::size_t n) {
	const Sequence s(array, seed);
	std::vector<float> v(n);
	for (std::size_t i = 0; i < n; i++)
		v[i] = s.float32(i);
	return v;
}

Observations observe(const Params &p) {
	Observations o;
	o.rows = p.n();
	const Sequence x("ml/x", p.seed);
	o.x.resize(o.rows * features);
	for (std::size_t i = 0; i < o.x.size(); i++)
		o.x[i] = static_cast<std::int32_t>(x.below(i, 10));
	o.log_prob = uniform("ml/nb_feat_log_prob", p.seed, classes * features);
	o.log_prior = uniform("ml/nb_class_log_prior", p.seed, classes);
	o.coeff = uniform("ml/ridge_coeff", p.seed, classes * features);
	o.intercept = uniform("ml/ridge_intercept", p.seed, classes);
	return o;
}

// Difference is the greatest there is between what came out and what should have, and where.
struct Difference {
	double most = 0;
	std::string first; // element that is off

	void of(const char *name, const std::vector<float> &got, const std::vector<double> &want) {
		for (std::size_t i = 0; i < want.size(); i++) {
			const auto d = std::abs(static_cast<double>(got[i]) - want[i]);
			most = std::isnan(d) || d > most ? d : most;
			if (!(d <= tolerance) && first.empty()) {
				std::ostringstream text;
				text << name << "[" << i / classes << "][" << i % classes << "] = " << got[i] << ", want " << want[i] << " within " << tolerance;
				first = text.str();
			}
		}
	}

	void of(const std::int32_t *got, const Ensemble &want, std::size_t rows) {
		for (std::size_t i = 0; i < rows; i++) {
			const auto d = want.shortfall(i, got[i]);
			most = std::max(most, d);
			if (!(d <= 2 * tolerance) && first.empty())
				first = "r[" + std::to_string(i) + "] = " + std::to_string(got[i]) + ", whose score is short of the best by " + std::to_string(d);
		}
	}
};

} // namespace

Kernels::Kernels()
	: rr_1(ptx_rr_1, "rr_1"), nb_1(ptx_nb_1, "nb_1"), rr_2(ptx_rr_2, "rr_2"), nb_2(ptx_nb_2, "nb_2"), nb_3(ptx_nb_3, "nb_3"),
	  rr_3(ptx_rr_3, "rr_3"), nb_4(ptx_nb_4, "nb_4"), softmax(ptx_softmax, "softmax"), argmax(ptx_argmax, "argmax") {}

Ml::Ml(const Device &device, const Params &p)
	: Workload(device, p), r1_(memory_.transferred<float>(p.n() * classes)), x_(memory_.device<std::int32_t>(p.n() * features)),
	  z_(memory_.device<float>(p.n() * features)), log_prob_(memory_.device<float>(classes * features)),
	  r2_(memory_.transferred<float>(p.n() * classes)), coeff_(memory_.device<float>(classes * features)), amax_(memory_.device<float>(p.n())),
	  l_(memory_.device<float>(p.n())), intercept_(memory_.device<float>(classes)), r_(memory_.transferred<std::int32_t>(p.n())) {
	make_ops();
	if (p.sampled)
		return;
	data_ = observe(p);
	for (std::size_t i = 0; i < p.n() * classes; i++)
		r1_data_.push_back(data_.log_prior[i % classes]);
	r2_data_.resize(p.n() * classes);
	want_ = classify(data_);
}

void Ml::make_ops() {
	const auto &k = kernels_;
	const auto shape = linear(params_.blocks, params_.threads);
	const auto n = static_cast<int>(params_.size), f = static_cast<int>(features), c = static_cast<int>(classes);
	normalise_ = launch(k.rr_1, shape, x_, z_, n, f);
	upload_r1_ = upload(memory_, r1_);
	add_bayes_ = launch(k.nb_1, shape, x_, log_prob_, r1_, n, f, c);
	upload_r2_ = upload(memory_, r2_);
	add_ridge_ = launch(k.rr_2, shape, z_, coeff_, r2_, n, f, c);
	find_amax_ = launch(k.nb_2, shape, r1_, amax_, n, c);
	find_l_ = launch(k.nb_3, shape, r1_, amax_, l_, n, c);
	add_intercept_ = launch(k.rr_3, shape, r2_, intercept_, n, c);
	exp_bayes_ = launch(k.nb_4, shape, r1_, l_, n, c);
	softmax_r1_ = launch(k.softmax, shape, r1_, n, c);
	softmax_r2_ = launch(k.softmax, shape, r2_, n, c);
	choose_ = launch(k.argmax, shape, r1_, r2_, r_, n, c);
	download_r_ = download(r_);
}

std::vector<const Op *> Ml::serial() const {
	return {&normalise_, &upload_r1_, &add_bayes_, &upload_r2_, &add_ridge_, &find_amax_, &find_l_, &add_intercept_, &exp_bayes_,
			&softmax_r1_, &softmax_r2_, &choose_, &download_r_};
}

void Ml::load() {
	memory_.write(x_, data_.x);
	memory_.write(log_prob_, data_.log_prob);
	memory_.write(coeff_, data_.coeff);
	memory_.write(intercept_, data_.intercept);
}

void Ml::reset() {
	memory_.refill(r1_, r1_data_);
	memory_.refill(r2_, r2_data_);
	memory_.poison({z_, amax_, l_, r_});
}

// The classes alone would pass over an error that changes no row's best.
Checked Ml::check(int) {
	Difference d;
	d.of(memory_.read(r_), want_, params_.n());
	d.of("r1", memory_.peek(r1_), want_.bayes);
	d.of("r2", memory_.peek(r2_), want_.ridge);
	return {d.most, d.first};
}

std::uint64_t Ml::hash() const {
	auto h = reprise::hash(0, r1_data_);
	h = reprise::hash(h, data_.x);
	h = reprise::hash(h, data_.log_prob);
	h = reprise::hash(h, r2_data_);
	h = reprise::hash(h, data_.coeff);
	return reprise::hash(h, data_.intercept);
}

} // namespace ml

int main(int argc, char **argv) {
	return reprise::run({"ml", 1000, 256, ml::blocks, ml::fits, reprise::make<ml::Ml>}, argc, argv);
}
