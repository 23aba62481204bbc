#include "dl.hpp"

namespace dl {

// y waits for the link in any case, so res is cleared before it, which makes a root less. Where nothing is copied
// it would wait for the fill.
void Dl::graph(Graph &g) const {
	const auto copied = is_copy(y_.upload_image);
	const auto x = chain(g, x_, {});
	const auto zero = g.add(clear_res_);
	const auto y = chain(g, y_, copied ? zero : Nodes{});
	const auto z = g.add(concat_, {x, y});
	const auto res = g.add(dot_, {z, copied ? Nodes{} : zero});
	g.add(fetch_res_, {res});
}

Nodes Dl::chain(Graph &g, const Branch &b, const Nodes &after) const {
	const auto image = g.add(b.upload_image, {after});
	const auto convolved = g.add(b.convolve_image, {image});
	const auto pooled = g.add(b.pool, {convolved});
	return g.add(b.convolve_pooled, {pooled});
}

} // namespace dl
