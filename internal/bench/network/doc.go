// Package network writes the forward passes of published neural networks as graphs
// to plan: one image, one operation for each that a framework would run, with a
// cost that follows from its shapes.
//
//	images 3x224x224 ──► conv ──► cell ──► cell ──► ... ──► pool ──► linear
//	                      └────────────────┴──► (each cell reads the two before)
//
// An operation is what PyTorch calls one in inference, after the normalization of a
// batch has been folded into the convolution before it: convolutions, ReLUs, sums,
// concatenations, pools, paddings, and slices, which are views and take no time. That
// is the graph that Kwon et al. measured on in "Nimble: Lightweight and Parallel GPU
// Task Scheduling for Deep Learning", NeurIPS 2020, and the shape is checked against
// lists of edges that others took from such programs.
//
// A cost is a bound from below: arithmetic at the peak in single precision or bytes at
// the bandwidth of memory, whichever takes longer, and the start of a kernel. Libraries
// take longer, the more so the less an operation fills a GPU. And empty operations do
// not share anything: two that run side by side take what they take alone. So a
// makespan predicted for these graphs says what the order of operations allows, and not
// what a GPU does.
package network
