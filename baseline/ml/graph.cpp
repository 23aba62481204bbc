#include "ml.hpp"

namespace ml {

void Ml::graph(Graph &g) const {
	const auto z = g.add(normalise_);
	const auto r1 = g.add(upload_r1_);
	const auto r2 = g.add(upload_r2_);

	const auto joint = g.add(add_bayes_, {r1});
	const auto amax = g.add(find_amax_, {joint});
	const auto l = g.add(find_l_, {amax});
	const auto bayes = g.add(exp_bayes_, {l});
	const auto scores1 = g.add(softmax_r1_, {bayes});

	const auto product = g.add(add_ridge_, {z, r2});
	const auto ridge = g.add(add_intercept_, {product});
	const auto scores2 = g.add(softmax_r2_, {ridge});

	const auto r = g.add(choose_, {scores1, scores2});
	g.add(download_r_, {r});
}

} // namespace ml
