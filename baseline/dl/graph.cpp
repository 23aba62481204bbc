#include "dl.hpp"

namespace dl {

void Dl::graph(Graph &g) const {
	const auto x = chain(g, x_);
	const auto y = chain(g, y_);
	const auto zero = g.add(clear_res_);
	const auto z = g.add(concat_, {x, y});
	const auto res = g.add(dot_, {z, zero});
	g.add(fetch_res_, {res});
}

Nodes Dl::chain(Graph &g, const Branch &b) const {
	const auto image = g.add(b.upload_image);
	const auto convolved = g.add(b.convolve_image, {image});
	const auto pooled = g.add(b.pool, {convolved});
	return g.add(b.convolve_pooled, {pooled});
}

} // namespace dl
