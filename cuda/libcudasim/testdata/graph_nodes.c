// A graph with every simple kind of node: it is built, queried, instantiated, launched many
// times, and changed without an effect on its instance.
// also with the per-thread default stream
#include "check.h"

static const char ptx[] =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry scale(.param .u64 data, .param .u32 n, .param .u32 by)\n"
	"{\n"
	"	.reg .pred %p; .reg .b32 %r<7>; .reg .b64 %d<4>;\n"
	"	ld.param.u64 %d1, [data]; ld.param.u32 %r1, [n]; ld.param.u32 %r5, [by];\n"
	"	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
	"	mad.lo.u32 %r2, %r2, %r3, %r4;\n"
	"	setp.ge.u32 %p, %r2, %r1; @%p bra done;\n"
	"	mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;\n"
	"	ld.global.u32 %r6, [%d1]; mul.lo.u32 %r6, %r6, %r5; st.global.u32 [%d1], %r6;\n"
	"done: ret;\n"
	"}\n";

enum { N = 1000 };

static void count(void *data) { ++*(int *)data; }

int main(void) {
	CUcontext context = open_device();
	CUmodule module;
	CUfunction scale;
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&scale, module, "scale"));
	CUdeviceptr a, b;
	CHECK(cuMemAlloc(&a, 4 * N));
	CHECK(cuMemAlloc(&b, 4 * N));

	// a = 7; a *= 3; b = a; b *= 5; count
	CUgraph graph;
	CUgraphNode set, times3, copy, times5, host, empty;
	CHECK(cuGraphCreate(&graph, 0));
	CUDA_MEMSET_NODE_PARAMS fill = {.dst = a, .value = 7, .elementSize = 4, .width = N, .height = 1};
	CHECK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &fill, context));
	uint32_t n = N, by = 3;
	void *args[] = {&a, &n, &by};
	CUDA_KERNEL_NODE_PARAMS kernel = {.func = scale, .gridDimX = (N + 255) / 256, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 256, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	CHECK(cuGraphAddKernelNode(&times3, graph, &set, 1, &kernel));
	CUDA_MEMCPY3D move = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = a, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = b,
		.WidthInBytes = 4 * N, .Height = 1, .Depth = 1};
	CHECK(cuGraphAddMemcpyNode(&copy, graph, &times3, 1, &move, context));
	by = 5;
	args[0] = &b;
	CHECK(cuGraphAddKernelNode(&times5, graph, &copy, 1, &kernel));
	by = 0; // arguments were copied
	int calls = 0;
	CUDA_HOST_NODE_PARAMS call = {.fn = count, .userData = &calls};
	CHECK(cuGraphAddHostNode(&host, graph, NULL, 0, &call));
	CHECK(cuGraphAddEmptyNode(&empty, graph, (CUgraphNode[]){times5, host}, 2));

	// What there is.
	CUgraphNode nodes[8], from[8], to[8];
	size_t room = 8;
	CHECK(cuGraphGetNodes(graph, NULL, &room));
	EQ(room, 6);
	room = 8;
	CHECK(cuGraphGetNodes(graph, nodes, &room));
	EQ(room, 6);
	TRUE(nodes[6] == NULL && nodes[7] == NULL);
	room = 2;
	CHECK(cuGraphGetRootNodes(graph, nodes, &room));
	EQ(room, 2);
	TRUE((nodes[0] == set && nodes[1] == host) || (nodes[0] == host && nodes[1] == set));
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &room));
	EQ(room, 5);
	room = 8;
	CHECK(cuGraphGetEdges(graph, from, to, &room));
	EQ(room, 5);
	int seen = 0;
	for (int i = 0; i < 5; i++)
		seen |= (from[i] == set && to[i] == times3) | (from[i] == times3 && to[i] == copy) << 1 | (from[i] == copy && to[i] == times5) << 2 |
			(from[i] == times5 && to[i] == empty) << 3 | (from[i] == host && to[i] == empty) << 4;
	EQ(seen, 31);
	room = 8;
	CHECK(cuGraphNodeGetDependencies(empty, nodes, &room));
	EQ(room, 2);
	TRUE(nodes[0] == times5 && nodes[1] == host);
	room = 8;
	CHECK(cuGraphNodeGetDependentNodes(copy, nodes, &room));
	EQ(room, 1);
	TRUE(nodes[0] == times5);
	CUgraphNodeType type;
	const CUgraphNode all[] = {set, times3, copy, host, empty};
	const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_EMPTY};
	for (int i = 0; i < 5; i++) {
		CHECK(cuGraphNodeGetType(all[i], &type));
		EQ(type, types[i]);
	}
	CUDA_KERNEL_NODE_PARAMS shown;
	CHECK(cuGraphKernelNodeGetParams(times5, &shown));
	TRUE(shown.func == scale && shown.extra == NULL);
	EQ(shown.gridDimX, (N + 255) / 256);
	EQ(shown.blockDimX, 256);
	TRUE(*(CUdeviceptr *)shown.kernelParams[0] == b);
	EQ(*(uint32_t *)shown.kernelParams[1], N);
	EQ(*(uint32_t *)shown.kernelParams[2], 5);
	CUDA_MEMSET_NODE_PARAMS shown_fill;
	CHECK(cuGraphMemsetNodeGetParams(set, &shown_fill));
	TRUE(shown_fill.dst == a && shown_fill.value == 7 && shown_fill.elementSize == 4 && shown_fill.width == N);
	CUDA_HOST_NODE_PARAMS shown_call;
	CHECK(cuGraphHostNodeGetParams(host, &shown_call));
	TRUE(shown_call.fn == count && shown_call.userData == &calls);

	CUgraphExec exec;
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 100; i++)
		CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuCtxSynchronize());
	uint32_t out[N];
	CHECK(cuMemcpyDtoH(out, b, sizeof out));
	for (int i = 0; i < N; i++)
		EQ(out[i], 105);
	EQ(calls, 100);

	// Changes of the graph, even its end, do not reach the instance.
	fill.value = 1;
	CHECK(cuGraphMemsetNodeSetParams(set, &fill));
	by = 2;
	CHECK(cuGraphKernelNodeSetParams(times5, &kernel));
	CHECK(cuGraphKernelNodeGetParams(times5, &shown));
	EQ(*(uint32_t *)shown.kernelParams[2], 2);
	CHECK(cuGraphDestroyNode(host));
	CHECK(cuGraphGetEdges(graph, NULL, NULL, &room));
	EQ(room, 4);
	CUgraphExec changed;
	CHECK(cuGraphInstantiate(&changed, graph, 0));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphLaunch(exec, NULL));
	CHECK(cuMemcpyDtoH(out, b, sizeof out));
	EQ(out[N - 1], 105);
	EQ(calls, 101);
	CHECK(cuGraphLaunch(changed, NULL));
	CHECK(cuGraphExecDestroy(changed)); // under way
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuMemcpyDtoH(out, b, sizeof out));
	EQ(out[N - 1], 6);
	EQ(calls, 101);
	CHECK(cuMemFree(a));
	CHECK(cuMemFree(b));
	CHECK(cuModuleUnload(module));
	return 0;
}
