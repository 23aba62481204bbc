// Package kernels holds the GPU kernels of the benchmarks. A kernel is four
// files with one stem: its source (square.cu), the PTX made from that by `make
// ptx` and committed (square.ptx), its Go side, which embeds the PTX, states the
// signature and checks launch shapes (square.go), and its test.
//
// Every kernel but the gemms, whose grid follows from the matrices, strides by its
// grid, so any number of blocks and threads computes the same elements.
// One-dimensional kernels walk 0..n; in two dimensions x walks rows and y walks
// columns, and images are row-major. The layers of networks order their data by
// channel, image, row and column, so that the convolution of several images is one
// product of matrices; x walks the pixels of a channel and y walks channels. Indices
// are 32-bit and an index steps once past the end, so a shape whose extent plus its
// grid's threads exceeds 2^31-1 is refused.
package kernels
