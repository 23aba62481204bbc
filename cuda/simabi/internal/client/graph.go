//go:build cuda && cgo

package client

/*
#include <cuda.h>

typedef CUresult (*graph_t)(CUgraph *, unsigned);
typedef CUresult (*node_t)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
typedef CUresult (*instantiate_t)(CUgraphExec *, CUgraph, unsigned long long);
typedef CUresult (*launch_graph_t)(CUgraphExec, CUstream);

static CUresult graph(void *f, CUgraph *g) { return ((graph_t)f)(g, 0); }

// chain adds n launches of a kernel, one after the other.
static CUresult chain(void *f, CUgraph g, int n, CUfunction k, const unsigned *shape, void **params) {
	CUDA_KERNEL_NODE_PARAMS p = {.func = k, .gridDimX = shape[0], .gridDimY = shape[1], .gridDimZ = shape[2],
		.blockDimX = shape[3], .blockDimY = shape[4], .blockDimZ = shape[5], .sharedMemBytes = shape[6], .kernelParams = params};
	CUresult answer = CUDA_SUCCESS;
	CUgraphNode last;
	for (int i = 0; i < n && answer == CUDA_SUCCESS; i++)
		answer = ((node_t)f)(&last, g, &last, i > 0, &p);
	return answer;
}

static CUresult instantiate(void *f, CUgraphExec *x, CUgraph g) { return ((instantiate_t)f)(x, g, 0); }

// launch_graph calls cuGraphLaunch n times.
static CUresult launch_graph(void *f, int n, CUgraphExec x) {
	CUresult answer = CUDA_SUCCESS;
	while (n-- > 0 && answer == CUDA_SUCCESS)
		answer = ((launch_graph_t)f)(x, NULL);
	return answer;
}
*/
import "C"

import "unsafe"

// GraphExec is the handle of an instance of a graph.
type GraphExec = C.CUgraphExec

// Chain instantiates a graph of n consecutive launches.
func Chain(n int, f Function, shape [7]uint32, a Arguments) (x GraphExec, answer int) {
	var g C.CUgraph
	for _, step := range []func() C.CUresult{
		func() C.CUresult { return C.graph(find("cuGraphCreate"), &g) },
		func() C.CUresult {
			return C.chain(find("cuGraphAddKernelNode_v2"), g, C.int(n), f, (*C.uint)(unsafe.Pointer(&shape[0])), a.params)
		},
		func() C.CUresult { return C.instantiate(find("cuGraphInstantiateWithFlags"), &x, g) },
	} {
		if answer = int(step()); answer != 0 {
			break
		}
	}
	return x, answer
}

// LaunchGraph calls cuGraphLaunch n times, or until it fails.
func LaunchGraph(n int, x GraphExec) int {
	return int(C.launch_graph(find("cuGraphLaunch"), C.int(n), x))
}
