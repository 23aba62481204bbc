// Memory that nodes of graphs allocate: freed in the same launch, by
// another graph, by the next launch, or by the host. Also the errors of such nodes.
#include "check.h"

enum { N = 1 << 16 };

static CUcontext context;
static CUstream stream;
static CUdeviceptr out;

static CUgraphNode alloc(CUgraph g, CUdeviceptr *p) {
	CUgraphNode node;
	CUDA_MEM_ALLOC_NODE_PARAMS a = {.bytesize = N,
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}}};
	CHECK(cuGraphAddMemAllocNode(&node, g, NULL, 0, &a));
	TRUE(a.dptr != 0);
	*p = a.dptr;
	return node;
}

static CUgraphNode fill(CUgraph g, CUgraphNode after, CUdeviceptr p, unsigned char value) {
	CUgraphNode node;
	CUDA_MEMSET_NODE_PARAMS m = {.dst = p, .value = value, .elementSize = 1, .width = N, .height = 1};
	CHECK(cuGraphAddMemsetNode(&node, g, &after, 1, &m, context));
	return node;
}

static CUgraphNode fetch(CUgraph g, CUgraphNode after, CUdeviceptr p) {
	CUgraphNode node;
	CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = out,
		.WidthInBytes = N, .Height = 1, .Depth = 1};
	CHECK(cuGraphAddMemcpyNode(&node, g, &after, 1, &c, context));
	return node;
}

static CUgraphExec instantiate(CUgraph g, unsigned long long flags) {
	CUgraphExec exec;
	CHECK(cuGraphInstantiateWithFlags(&exec, g, flags));
	return exec;
}

static void run(CUgraphExec exec) {
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuStreamSynchronize(stream));
}

static int byte_at(CUdeviceptr p, size_t i) {
	unsigned char b;
	CHECK(cuMemcpyDtoH(&b, p + i, 1));
	return b;
}

static cuuint64_t attribute(CUgraphMem_attribute a) {
	cuuint64_t value = 0;
	CHECK(cuDeviceGetGraphMemAttribute(0, a, &value));
	return value;
}

// alloc, fill, fetch, free, launched again and again.
static void within_a_launch(void) {
	CUgraph g, clone;
	CUdeviceptr p, known;
	CUgraphNode node;
	CHECK(cuGraphCreate(&g, 0));
	CUgraphNode a = alloc(g, &p);
	CUgraphNode last = fetch(g, fill(g, a, p, 9), p);
	CHECK(cuGraphAddMemFreeNode(&node, g, &last, 1, p));
	CHECK(cuGraphMemFreeNodeGetParams(node, &known));
	EQ(known, p);
	CUDA_MEM_ALLOC_NODE_PARAMS is;
	CHECK(cuGraphMemAllocNodeGetParams(a, &is));
	EQ(is.dptr, p);
	EQ(is.bytesize, N);

	EXPECT(cuGraphAddMemFreeNode(&node, g, &last, 1, p), CUDA_ERROR_INVALID_VALUE);   // twice
	EXPECT(cuGraphAddMemFreeNode(&node, g, &last, 1, out), CUDA_ERROR_INVALID_VALUE); // of no node
	EXPECT(cuGraphDestroyNode(last), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphClone(&clone, g), CUDA_ERROR_INVALID_VALUE);
	CUgraph other;
	CHECK(cuGraphCreate(&other, 0));
	EXPECT(cuGraphAddChildGraphNode(&node, other, NULL, 0, g), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddMemFreeNode(&node, other, NULL, 0, p), CUDA_ERROR_INVALID_VALUE); // its own graph does
	CHECK(cuGraphDestroy(other));

	CUgraphExec exec = instantiate(g, 0), second;
	TRUE(cuGraphInstantiateWithFlags(&second, g, 0) != CUDA_SUCCESS);
	for (int i = 0; i < 3; i++) {
		CHECK(cuGraphLaunch(exec, stream));
		run(exec);
		EQ(byte_at(out, 0), 9);
		EQ(byte_at(out, N - 1), 9);
		EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
	}
	TRUE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= N);
	TRUE(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >= N);
	cuuint64_t zero = 0, one = 1;
	CHECK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
	EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
	EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), CUDA_ERROR_INVALID_VALUE);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuDeviceGraphMemTrim(0));
	EQ(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
	CHECK(cuGraphDestroy(g));
}

// The memory outlives the launch. Another graph frees it, or the next launch does.
static void past_a_launch(int automatic) {
	CUgraph g, freeing;
	CUdeviceptr p;
	CUgraphNode node;
	CHECK(cuGraphCreate(&g, 0));
	CUgraphNode made = alloc(g, &p);
	fill(g, made, p, 4);
	CUgraphExec exec = instantiate(g, automatic ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0);
	CHECK(cuGraphCreate(&freeing, 0));
	CHECK(cuGraphAddMemFreeNode(&node, freeing, NULL, 0, p));
	CUgraphExec other = instantiate(freeing, 0);
	for (int i = 0; i < 3; i++) {
		run(exec);
		EQ(byte_at(p, N - 1), 4);
		TRUE(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= N);
		if (automatic)
			continue;
		EXPECT(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE); // it is still there
		run(other);
	}
	if (automatic)
		run(other);
	EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(g));
	CHECK(cuGraphExecDestroy(other));
	CHECK(cuGraphDestroy(freeing));
}

// The host frees what a launch has left, at once or when a stream comes to it.
static void by_the_host(int in_stream) {
	CUgraph g;
	CUdeviceptr p;
	CHECK(cuGraphCreate(&g, 0));
	CUgraphNode made = alloc(g, &p);
	fill(g, made, p, 5);
	CUgraphExec exec = instantiate(g, 0);
	for (int i = 0; i < 3; i++) {
		CHECK(cuMemsetD8(out, 0, N));
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuMemcpyDtoDAsync(out, p, N, stream));
		CHECK(in_stream ? cuMemFreeAsync(p, stream) : cuMemFree(p));
		CHECK(cuStreamSynchronize(stream));
		EQ(byte_at(out, N - 1), 5);
		EQ(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
		EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	}
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(g));
}

int main(void) {
	context = open_device();
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&out, N));
	within_a_launch();
	past_a_launch(0);
	past_a_launch(1);
	by_the_host(0);
	by_the_host(1);
	CUgraph g;
	CUgraphNode node;
	CHECK(cuGraphCreate(&g, 0));
	CUDA_MEM_ALLOC_NODE_PARAMS a = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}}};
	EXPECT(cuGraphAddMemAllocNode(&node, g, NULL, 0, &a), CUDA_ERROR_INVALID_VALUE); // of no bytes
	a.bytesize = 4;
	a.poolProps.location.id = 1000;
	EXPECT(cuGraphAddMemAllocNode(&node, g, NULL, 0, &a), CUDA_ERROR_INVALID_VALUE);
	return 0;
}
