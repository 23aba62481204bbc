// Package network writes the forward passes of published neural networks as graphs for planning: one image, one
// operation for each operation of a framework, with a cost computed from its shapes.
//
//	images 3x224x224 ──► conv ──► cell ──► cell ──► ... ──► pool ──► linear
//	                      └────────────────┴──► (each cell reads the two before)
//
// The operations are those of PyTorch in inference, after batch normalization has been folded into the preceding
// convolution: convolutions, ReLUs, sums, concatenations, pools, paddings, and slices, which are views and take no
// time. This is the graph that Kwon et al. used in "Nimble: Lightweight and Parallel GPU Task Scheduling for Deep
// Learning", NeurIPS 2020. Tests check the shape against published lists of edges of such programs.
//
// A cost is a lower bound: the start of a kernel plus the greater of its arithmetic at peak rate in single precision
// and its bytes at peak memory bandwidth. Libraries take longer, especially for operations that do not fill a GPU.
// Empty operations do not share resources: operations that run side by side take the same time as alone. A predicted
// makespan for these graphs therefore shows what the order of operations permits, not what a GPU achieves.
package network
