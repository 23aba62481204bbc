#include "reference.hpp"

#include <numeric>

namespace hits {
namespace {

// next is one round before the division, over the edges.
Scores next(const reprise::SparseGraph &edges, const Scores &now) {
	const auto n = now.hub.size();
	Scores sums{std::vector<double>(n), std::vector<double>(n)};
	for (std::size_t from = 0; from < n; from++) {
		const auto end = static_cast<std::size_t>(edges.ptr[from + 1]);
		for (auto e = static_cast<std::size_t>(edges.ptr[from]); e < end; e++) {
			const auto to = static_cast<std::size_t>(edges.idx[e]);
			sums.authority[to] += now.hub[from];
			sums.hub[from] += now.authority[to];
		}
	}
	return sums;
}

void normalise(std::vector<double> &v) {
	const auto sum = std::accumulate(v.begin(), v.end(), 0.0);
	for (auto &x : v)
		x /= sum;
}

} // namespace

Scores iterate(const reprise::SparseGraph &edges, int rounds) {
	const auto n = edges.ptr.size() - 1;
	Scores s{std::vector<double>(n, 1), std::vector<double>(n, 1)};
	for (int i = 0; i < rounds; i++) {
		s = next(edges, s);
		normalise(s.authority);
		normalise(s.hub);
	}
	return s;
}

} // namespace hits
