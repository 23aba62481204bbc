#include "img.hpp"

namespace img {

// The first stream holds the critical path, by the large blur, and is issued first; the others hold the two
// branches that meet it, and the minimum beside the maximum, after the clearing of both.
void Img::async(Streams &s) const {
	s.run(0, blur_large_);
	s.run(1, blur_unsharpen_);
	s.run(2, blur_small_);
	s.run(3, clear_extrema_);
	const auto cleared = s.record(3);
	s.run(0, sobel_large_);
	const auto edges = s.record(0);
	s.wait(3, edges);
	s.run(3, minimum_);
	const auto least = s.record(3);
	s.wait(0, cleared);
	s.run(0, maximum_);
	s.run(1, unsharpen_);
	const auto sharp = s.record(1);
	s.run(2, sobel_small_);
	s.run(2, prefetch_out_);
	const auto small = s.record(2);
	s.wait(0, least);
	s.run(0, extend_);
	s.wait(0, sharp);
	s.run(0, combine_large_);
	s.wait(0, small);
	s.run(0, {&combine_small_, &download_out_});
	s.finish({0});
}

} // namespace img
