#include "input.hpp"

#include <set>

#include "tests.hpp"

using namespace reprise;

// The values are worked out from the definition in whole numbers of any size, in another language.
TEST(sequence) {
	const Sequence s("vec/x", 1);
	const double f32[] = {13409680, 6803292, 13287403, 12300123};
	const double f64[] = {7199267663214601, 3652490041358055, 7133620436322225, 6603578389833032};
	const std::uint32_t below[] = {7, 4, 7, 7, 0, 5, 7, 2, 1, 2, 1, 3};
	for (std::size_t i = 0; i < 4; i++) {
		EQUAL(s.float32(i) * 0x1p24, f32[i]);
		EQUAL(s.float64(i) * 0x1p53, f64[i]);
	}
	for (std::size_t i = 0; i < 12; i++)
		EQUAL(s.below(i, 10), below[i]);
}

TEST(hash_of_bytes) {
	EQUAL(hash(0, "", 0), 0u);
	EQUAL(hash(0, "a", 1), 0x4cd3b69d188e71bdu);
	EQUAL(hash(0, "12345678", 8), 0x95a8cf534c586ae8u);
	EQUAL(hash(0, "123456789", 9), 0x56efb705f25f77c7u);
	EQUAL(hash(hash(0, "abc", 3), "defghijkl", 9), 0xb19171db49ae1548u);
}

// Both forms hold the same edges, three different ones from each vertex, and rows of the transpose ascend. The last size is of
// two partitions.
TEST(graph_and_transpose) {
	for (const std::size_t n : {3u, 16u, 1000u, (1u << 17) + 5}) {
		const Edges edges(Sequence("hits/graph", 1), n);
		const auto forth = edges.graph(), back = edges.transpose();
		std::set<std::pair<std::int32_t, std::int32_t>> all;
		const auto row = [](const SparseGraph &g, std::size_t v, auto each) {
			for (auto e = static_cast<std::size_t>(g.ptr[v]); e < static_cast<std::size_t>(g.ptr[v + 1]); e++)
				each(g.idx[e]);
		};
		for (std::size_t v = 0; v < n; v++)
			row(forth, v, [&](std::int32_t to) { all.insert({static_cast<std::int32_t>(v), to}); });
		EQUAL(all.size(), Edges::degree * n);
		EQUAL(static_cast<std::size_t>(back.ptr[n]), Edges::degree * n);
		std::size_t missing = 0, disordered = 0;
		for (std::size_t v = 0; v < n; v++) {
			std::int32_t last = -1;
			row(back, v, [&](std::int32_t from) {
				missing += 1 - all.erase({from, static_cast<std::int32_t>(v)});
				disordered += from <= last;
				last = from;
			});
		}
		EQUAL(missing, 0u);
		EQUAL(disordered, 0u);
		EQUAL(all.size(), 0u);
	}
}
