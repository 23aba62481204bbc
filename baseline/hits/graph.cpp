#include "hits.hpp"

namespace hits {
namespace {

Nodes together(Nodes a, const Nodes &b) {
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

Nodes arrival(Graph &g, const Chain &c) {
	Nodes all;
	for (const auto *op : {&c.upload_ptr, &c.upload_idx, &c.upload_val, &c.upload_scores})
		all = together(all, g.add(*op));
	return all;
}

} // namespace

void Hits::graph(Graph &g) const {
	const auto counters = g.add(clear_counters_);
	auto norms = g.add(clear_norms_);
	auto for_authorities = together(counters, arrival(g, authorities_));
	auto for_hubs = together(counters, arrival(g, hubs_));
	Nodes authorities, hubs;
	for (std::size_t i = 0; i < rounds; i++) {
		const auto a = g.add(authorities_.product[i], {for_authorities});
		const auto b = g.add(hubs_.product[i], {for_hubs});
		const auto a_sum = g.add(authorities_.sum[i], {a, norms});
		const auto b_sum = g.add(hubs_.sum[i], {b, norms});
		authorities = g.add(authorities_.divide[i], {a_sum, b}); // overwrites what b reads
		hubs = g.add(hubs_.divide[i], {b_sum, a});
		norms = {}; // later rounds come after the first
		for_authorities = for_hubs = together(authorities, hubs);
	}
	g.add(authorities_.download_scores, {authorities});
	g.add(hubs_.download_scores, {hubs});
}

} // namespace hits
