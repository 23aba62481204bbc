#include "hits.hpp"

#include "compare.hpp"

REPRISE_PTX(spmv3);
REPRISE_PTX(sum);
REPRISE_PTX(divide);

namespace hits {
namespace {

// A share of each score, for blocks of up to 256 threads: scores are sums of positive numbers, so they are as exact as
// one another. Each warp adds its part to a norm as a float, and larger blocks are allowed as much per warp.
constexpr double tolerance = 1e-4;

std::string fits(long n) {
	if (n >= 16 && n <= 500'000'000)
		return "";
	return "hits takes graphs of 16 to 500 million vertices, not " + std::to_string(n);
}

} // namespace

Kernels::Kernels() : spmv3(ptx_spmv3, "spmv3"), sum(ptx_sum, "sum"), divide(ptx_divide, "divide") {}

Matrix::Matrix(Memory &memory, std::size_t n)
	: ptr(memory.transferred<std::int32_t>(n + 1)), idx(memory.transferred<std::int32_t>(Edges::degree * n)),
	  val(memory.transferred<std::int32_t>(Edges::degree * n)) {}

Hits::Hits(const Device &device, const Params &p)
	: Workload(device, p), counters_(memory_.device<std::int32_t>(2 * rounds)), norms_(memory_.device<float>(2 * rounds)),
	  into_(memory_, p.n()), hub1_(memory_.transferred<float>(p.n())), from_(memory_, p.n()),
	  auth1_(memory_.transferred<float>(p.n())), auth2_(memory_.device<float>(p.n())), hub2_(memory_.device<float>(p.n())),
	  clear_counters_(clear(counters_)), clear_norms_(clear(norms_)),
	  authorities_(make_chain(0, into_, hub1_, auth2_, auth1_)), hubs_(make_chain(1, from_, auth1_, hub2_, hub1_)),
	  edges_(Sequence("hits/idx", p.seed), p.n()) {
	if (p.sampled)
		return;
	from_data_ = edges_.graph();
	into_data_ = edges_.transpose();
	weights_.assign(from_data_.idx.size(), 1);
	ones_.assign(p.n(), 1);
	want_ = iterate(from_data_, rounds);
}

// The products have a thread for each row, as the benchmark has, although four share one.
Chain Hits::make_chain(std::size_t which, const Matrix &matrix, const Array<float> &from, const Array<float> &wide, const Array<float> &to) {
	const auto n = static_cast<int>(params_.size);
	const auto rows = linear((n + params_.threads - 1) / params_.threads, params_.threads);
	const auto line = linear(params_.blocks, params_.threads);
	Chain c;
	c.upload_ptr = upload(memory_, matrix.ptr);
	c.upload_idx = upload(memory_, matrix.idx);
	c.upload_val = upload(memory_, matrix.val);
	c.upload_scores = upload(memory_, from);
	for (std::size_t i = 0; i < rounds; i++) {
		const auto counter = counters_.slice(2 * i + which, 2 * i + which + 1);
		const auto norm = norms_.slice(2 * i + which, 2 * i + which + 1);
		c.product[i] = launch(kernels_.spmv3, rows, counter, matrix.ptr, matrix.idx, matrix.val, from, wide, n);
		c.sum[i] = launch(kernels_.sum, line, wide, norm, n);
		c.divide[i] = launch(kernels_.divide, line, wide, to, norm, n);
	}
	c.download_scores = download(to);
	return c;
}

std::vector<const Op *> Hits::serial() const {
	std::vector<const Op *> ops = {&clear_counters_, &clear_norms_};
	for (const auto *c : {&authorities_, &hubs_})
		ops.insert(ops.end(), {&c->upload_ptr, &c->upload_idx, &c->upload_val, &c->upload_scores});
	for (std::size_t i = 0; i < rounds; i++)
		for (const auto step : {&Chain::product, &Chain::sum, &Chain::divide})
			ops.insert(ops.end(), {&(authorities_.*step)[i], &(hubs_.*step)[i]});
	ops.insert(ops.end(), {&authorities_.download_scores, &hubs_.download_scores});
	return ops;
}

void Hits::reset() {
	memory_.poison({counters_, norms_, auth2_, hub2_});
	for (const auto &[matrix, data] : {std::pair(&into_, &into_data_), std::pair(&from_, &from_data_)}) {
		memory_.refill(matrix->ptr, data->ptr);
		memory_.refill(matrix->idx, data->idx);
		memory_.refill(matrix->val, weights_);
	}
	memory_.refill(hub1_, ones_);
	memory_.refill(auth1_, ones_);
}

// steer writes where rows begin and which elements they multiply.
void Hits::steer() {
	compose(into_, &Edges::write_transpose);
	compose(from_, &Edges::write);
}

// compose has the rows and columns of a matrix written where kernels find them.
void Hits::compose(const Matrix &matrix, void (Edges::*write)(std::int32_t *ptr, std::int32_t *idx) const) {
	auto ptr = memory_.draft(matrix.ptr), idx = memory_.draft(matrix.idx);
	(edges_.*write)(ptr.data(), idx.data());
	memory_.send(ptr);
	memory_.send(idx);
}

Checked Hits::check(int replays) {
	if (replays != replays_wanted_)
		want_ = iterate(from_data_, rounds * static_cast<std::size_t>(replays));
	replays_wanted_ = replays;
	const auto share = tolerance * std::max(1.0, params_.threads / 256.0);
	const auto allowed = [&](double want) { return share * want; };
	Comparison c;
	c.of("auth1", memory_.read(auth1_), want_.authority, allowed);
	c.of("hub1", memory_.read(hub1_), want_.hub, allowed);
	return c.found();
}

std::uint64_t Hits::hash() const {
	std::uint64_t h = 0;
	for (const auto *data : {&into_data_, &from_data_}) {
		h = reprise::hash(reprise::hash(h, data->ptr), data->idx);
		h = reprise::hash(reprise::hash(h, weights_), ones_);
	}
	return h;
}

} // namespace hits

int main(int argc, char **argv) {
	return reprise::run({"hits", 1 << 14, 256, reprise::per_sm, hits::fits, reprise::make<hits::Hits>}, argc, argv);
}
