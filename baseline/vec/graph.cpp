#include "vec.hpp"

namespace vec {

void Vec::graph(Graph &g) const {
	const auto x = g.add(upload_x_);
	const auto y = g.add(upload_y_);
	const auto zero = g.add(clear_res_);
	const auto x1 = g.add(square_x_, {x});
	const auto y1 = g.add(square_y_, {y});
	const auto sum = g.add(reduce_xy_, {x1, y1, zero});
	g.add(fetch_res_, {sum});
}

} // namespace vec
