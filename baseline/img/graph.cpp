#include "img.hpp"

namespace img {

void Img::graph(Graph &g) const {
	const auto cleared = g.add(clear_extrema_);
	const auto blur_large = g.add(blur_large_);
	const auto blur_unsharpen = g.add(blur_unsharpen_);
	const auto blur_small = g.add(blur_small_);
	const auto edges_large = g.add(sobel_large_, {blur_large});
	const auto edges_small = g.add(sobel_small_, {blur_small});
	const auto sharp = g.add(unsharpen_, {blur_unsharpen});
	const auto most = g.add(maximum_, {edges_large, cleared});
	const auto least = g.add(minimum_, {edges_large, cleared});
	const auto mask = g.add(extend_, {most, least});
	const auto mix = g.add(combine_large_, {sharp, mask});
	g.add(prefetch_out_);
	const auto out = g.add(combine_small_, {mix, edges_small});
	g.add(download_out_, {out});
}

} // namespace img
