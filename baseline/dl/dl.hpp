// A siamese network: two images go through convolution, pooling and convolution, and a dense layer makes one
// number of both.
#pragma once

#include "reference.hpp"
#include "workload.hpp"

namespace dl {

using namespace reprise;

// Window is a square window that a kernel moves over an image of n x n pixels in strides.
struct Window {
	int n, channels, size, step;

	int out() const { return n / step; }
};

// Layers are the windows of the layers.
struct Layers {
	explicit Layers(long n);

	Window conv_1, pool, conv_2;
	std::size_t features; // of one image
};

// Kernels are loaded once each.
struct Kernels {
	Kernels();
	Kernel conv2d, mean_pooling, concat, dot_product;
};

// Branch is a network on the device: x, kernel_1 and so on of the first, y, kernel_3 and so on of the second.
struct Branch {
	Array<float> image, convolved, weights_1, pooled, features, weights_2;
	Op upload_image, convolve_image, pool, convolve_pooled;
};

class Dl : public Workload {
public:
	Dl(const Device &device, const Params &p);

	std::vector<const Op *> serial() const override;
	void async(Streams &s) const override;
	void graph(Graph &g) const override;

	void load() override;
	void reset() override;
	Checked check(int) override;
	std::uint64_t hash() const override;

private:
	void allocate();
	void allocate(Branch &b);
	void make_ops();
	void make_ops(Branch &b);
	void generate();
	// chain adds a network to a graph, its image after some nodes, and returns its end.
	Nodes chain(Graph &g, const Branch &b, const Nodes &after) const;

	Kernels kernels_;
	Layers layers_;
	Branch x_, y_;
	Array<float> res_, z_, dense_;

	Op clear_res_, concat_, dot_, fetch_res_;

	Network x_data_, y_data_;
	std::vector<float> dense_data_;
	Answer want_;
};

} // namespace dl
