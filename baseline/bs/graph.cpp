#include "bs.hpp"

namespace bs {

void Bs::graph(Graph &g) const {
	for (const auto &o : options_) {
		const auto x = g.add(o.upload_x);
		const auto y = g.add(o.price, {x});
		g.add(o.download_y, {y});
	}
}

} // namespace bs
