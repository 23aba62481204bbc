// The image pipeline: sharpen an image where a blurred copy of it has edges, and soften it elsewhere.
//
//	1 blur small ──► 4 sobel ─────────────────────────────────────────┐
//	2 blur large ──► 5 sobel ─┬► 6 maximum ─┬► 8 extend ─► 10 combine ┴► 11 combine
//	                          └► 7 minimum ─┘                ▲
//	3 blur unsharpen ──► 9 unsharpen ────────────────────────┘
#pragma once

#include "workload.hpp"

namespace img {

using namespace reprise;

// Kernels are loaded once each.
struct Kernels {
	Kernels();
	Kernel blur, sobel, maximum, minimum, extend, unsharpen, combine;
};

class Img : public Workload {
public:
	Img(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void load() override;
	void reset() override;
	Checked check(int) override;
	std::uint64_t hash() const override;

private:
	Array<float> plane() { return memory_.device<float>(params_.n() * params_.n()); }
	void make_ops();

	Kernels kernels_;
	// In the order of their first use.
	Array<float> extrema_, image_, blurred_small_, filter_small_, blurred_large_, filter_large_, blurred_unsharpen_, filter_unsharpen_,
		mask_small_, mask_large_, sharp_, mix_, out_;

	Op clear_extrema_, blur_small_, blur_large_, blur_unsharpen_, sobel_small_, sobel_large_, maximum_, minimum_, extend_, unsharpen_,
		combine_large_, prefetch_out_, combine_small_, download_out_;

	std::vector<float> image_data_, filter_small_data_, filter_large_data_, filter_unsharpen_data_;
	std::vector<double> want_;
};

} // namespace img
