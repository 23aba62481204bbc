// The HITS algorithm, hubs and authorities of a directed graph by power iteration: five rounds of two chains that
// exchange their results.
//
//	product Aᵀ·hub1 ─► sum ─► divide auth1 ─┬► product …
//	                 ╳                      ╳
//	product A·auth1 ─► sum ─► divide hub1 ──┴► product …
#pragma once

#include <array>

#include "reference.hpp"
#include "workload.hpp"

namespace hits {

using namespace reprise;

constexpr std::size_t rounds = 5;

// Kernels are loaded once each.
struct Kernels {
	Kernels();
	Kernel spmv3, sum, divide;
};

// Matrix is an adjacency matrix in compressed rows, on its way to the device.
struct Matrix {
	Matrix(Memory &memory, std::size_t n);
	Array<std::int32_t> ptr, idx, val;
};

// Chain is one half of the program: the products of a matrix with the other half's scores.
struct Chain {
	Op upload_ptr, upload_idx, upload_val, upload_scores, download_scores;
	std::array<Op, rounds> product, sum, divide;
};

class Hits : public Workload {
public:
	Hits(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void reset() override;
	Checked check(int replays) override;
	bool continues() const override { return true; }
	std::uint64_t hash() const override;
	void steer() override;

private:
	// make_chain has products of a matrix with the scores in from, which are sums in wide and end in to.
	Chain make_chain(std::size_t which, const Matrix &matrix, const Array<float> &from, const Array<float> &wide, const Array<float> &to);

	void compose(const Matrix &matrix, void (Edges::*write)(std::int32_t *ptr, std::int32_t *idx) const);

	Kernels kernels_;
	// In the order of their first use.
	Array<std::int32_t> counters_; // one for each product, and
	Array<float> norms_;		   // one for each sum
	Matrix into_;				   // the transpose
	Array<float> hub1_;
	Matrix from_;
	Array<float> auth1_, auth2_, hub2_; // those of twos before they are divided

	Op clear_counters_, clear_norms_;
	Chain authorities_, hubs_;

	const Edges edges_;
	SparseGraph from_data_, into_data_; // empty on a sampled device, as what follows
	std::vector<std::int32_t> weights_; // ones
	std::vector<float> ones_;
	Scores want_; // after this many replays
	int replays_wanted_ = 1;
};

} // namespace hits
