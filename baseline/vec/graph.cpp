#include "vec.hpp"

namespace vec {

// y waits for the link in any case, so res is cleared before it, which makes a root less. Where nothing is copied
// it would wait for the fill.
void Vec::graph(Graph &g) const {
	const auto copied = is_copy(upload_y_);
	const auto x = g.add(upload_x_);
	const auto zero = g.add(clear_res_);
	const auto y = copied ? g.add(upload_y_, {zero}) : g.add(upload_y_);
	const auto x1 = g.add(square_x_, {x});
	const auto y1 = g.add(square_y_, {y});
	const auto sum = g.add(reduce_xy_, {x1, y1, copied ? Nodes{} : zero});
	g.add(fetch_res_, {sum});
}

} // namespace vec
