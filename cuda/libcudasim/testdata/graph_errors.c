// What graphs refuse, and that a refusal changes nothing.
#include "check.h"

#include <unistd.h>

static void nothing(void *data) { (void)data; }

int main(void) {
	EXPECT(cuGraphCreate(&(CUgraph){0}, 0), CUDA_ERROR_NOT_INITIALIZED);
	CUcontext context = open_device();
	CUgraph graph, other;
	CUgraphNode a, b, c, foreign, n;
	size_t count;
	CUDA_HOST_NODE_PARAMS host = {.fn = nothing};

	EXPECT(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphCreate(&other, 0));
	CHECK(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
	CHECK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
	CHECK(cuGraphAddHostNode(&b, graph, &a, 1, &host));
	CHECK(cuGraphAddEmptyNode(&c, graph, &b, 1));

	// Dependencies: of this graph, each once.
	EXPECT(cuGraphAddEmptyNode(&n, graph, &foreign, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddEmptyNode(&n, graph, (CUgraphNode[]){a, a}, 2), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddEmptyNode(&n, graph, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddEmptyNode(NULL, graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddHostNode(&n, graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, &a, &foreign, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, &a, &b, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, (CUgraphNode[]){a, b}, (CUgraphNode[]){c, c}, 2), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphAddDependencies(graph, NULL, NULL, 0));
	EXPECT(cuGraphRemoveDependencies(graph, &a, &c, 1), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EQ(count, 2);
	EXPECT(cuGraphGetEdges(graph, &n, NULL, &count), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphGetNodes(graph, &n, NULL), CUDA_ERROR_INVALID_VALUE);

	// Parameters are of the node's kind.
	CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 4, .width = 1, .height = 1};
	EXPECT(cuGraphMemsetNodeGetParams(b, &fill), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphMemsetNodeSetParams(b, &fill), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphHostNodeGetParams(a, &host), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddMemsetNode(&n, graph, NULL, 0, &fill, context), CUDA_ERROR_INVALID_VALUE); // at address 0
	fill.elementSize = 3;
	CHECK(cuMemAlloc(&fill.dst, 16));
	EXPECT(cuGraphAddMemsetNode(&n, graph, NULL, 0, &fill, context), CUDA_ERROR_INVALID_VALUE);
	fill.elementSize = 4;
	CHECK(cuGraphAddMemsetNode(&n, graph, &c, 1, &fill, context));

	// A cycle is found when the graph is instantiated.
	CUgraphExec exec;
	CHECK(cuGraphAddDependencies(graph, &c, &a, 1));
	EXPECT(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
	EXPECT(cuGraphInstantiateWithParams(&exec, graph, &params), CUDA_ERROR_INVALID_VALUE);
	EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
	TRUE(params.hErrNode_out == a || params.hErrNode_out == b || params.hErrNode_out == c);
	CHECK(cuGraphRemoveDependencies(graph, &c, &a, 1));
	EXPECT(cuGraphInstantiate(&exec, graph, 1 << 20), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphInstantiate(NULL, graph, 0), CUDA_ERROR_INVALID_VALUE);
	params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
	CHECK(cuGraphInstantiateWithParams(&exec, graph, &params));
	EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
	TRUE(params.hErrNode_out == NULL);
	CHECK(cuGraphUpload(exec, NULL));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());

	// In the language of Graphviz.
	char path[] = "/tmp/graph_errors.XXXXXX", text[4096] = "";
	close(mkstemp(path));
	CHECK(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
	FILE *f = fopen(path, "r");
	TRUE(f != NULL);
	TRUE(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	TRUE(strncmp(text, "digraph", 7) == 0);
	unlink(path);
	EXPECT(cuGraphDebugDotPrint(graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphDebugDotPrint(graph, "/nonexistent/graph.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphDestroy(other));
	CHECK(cuMemFree(fill.dst));
	return 0;
}
