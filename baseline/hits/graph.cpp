#include "hits.hpp"

namespace hits {

// The copies are two chains, in turn: one copy gets under way while the other chain's is on the link, and a launch
// pays for two roots. The authorities' come first, so that their product starts under the hubs'. A division of
// authorities could begin behind the hubs' product; it waits for their sum, which takes no longer, since a node
// whose only successor is a chain is cheaper to launch.
void Hits::graph(Graph &g) const {
	const auto &a = authorities_, &h = hubs_;
	Nodes even = g.add(a.upload_ptr), odd = g.add(a.upload_idx);
	even = g.add(a.upload_val, {even});
	odd = g.add(a.upload_scores, {odd});
	const auto a_arrived = odd;
	even = g.add(h.upload_ptr, {even});
	const auto counters = even = g.add(clear_counters_, {even});
	odd = g.add(h.upload_idx, {odd});
	const auto norms = odd = g.add(clear_norms_, {odd});
	even = g.add(h.upload_val, {even});
	odd = g.add(h.upload_scores, {odd});

	Nodes divided_a, divided_h;
	for (std::size_t i = 0; i < rounds; i++) {
		const auto first = i == 0;
		const auto product_a = first ? g.add(a.product[i], {a_arrived, counters}) : g.add(a.product[i], {divided_a, divided_h});
		const auto product_h = first ? g.add(h.product[i], {even, odd}) : g.add(h.product[i], {divided_a, divided_h});
		const auto sum_a = g.add(a.sum[i], {product_a, first ? norms : Nodes{}});
		const auto sum_h = g.add(h.sum[i], {product_h});
		divided_a = g.add(a.divide[i], {sum_a, sum_h});
		divided_h = g.add(h.divide[i], {sum_h, product_a});
	}
	g.add(a.download_scores, {divided_a});
	g.add(h.download_scores, {divided_h});
}

} // namespace hits
