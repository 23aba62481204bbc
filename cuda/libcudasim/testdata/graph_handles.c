// sim only: a real driver may crash on handles of what was destroyed
// Handles of graphs, nodes and instances that are gone are found.
#include "check.h"

int main(void) {
	open_device();
	CUgraph graph, clone;
	CUgraphNode a, b;
	CUgraphExec exec;
	size_t count;
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
	CHECK(cuGraphAddEmptyNode(&b, graph, &a, 1));
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	CHECK(cuGraphClone(&clone, graph));
	CHECK(cuGraphDestroyNode(a));
	EXPECT(cuGraphDestroyNode(a), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, &a, &b, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphNodeFindInClone(&a, a, clone), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphDestroy(graph));
	EXPECT(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphGetNodes(graph, NULL, &count), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphNodeGetDependencies(b, NULL, &count), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphInstantiate(&exec, (CUgraph)exec, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphDestroy((CUgraph)b), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuGraphExecDestroy(exec));
	EXPECT(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);

	// An instance goes with its context.
	CUcontext context;
	CUdevice device;
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuCtxCreate(&context, 0, device));
	CHECK(cuGraphInstantiate(&exec, clone, 0));
	CHECK(cuCtxDestroy(context));
	EXPECT(cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphDestroy(clone));
	return 0;
}
